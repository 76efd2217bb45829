// Every key of a cell, one function a name. All carry the hash tag of the cell.
import { createHash } from "node:crypto";

/** Journals of a cell: fixed for its life, since a shard is a hash of the aggregate. */
export const SHARDS = 16;

export type Keys = ReturnType<typeof keysOf>;

export function keysOf(cell: string) {
  const key = (...parts: string[]) => `{${cell}}:${parts.join(":")}`;
  return {
    meta: () => key("meta"),
    index: (what: "pools" | "tenants") => key("index", what),
    probe: () => ({ probe_key: key("probe"), stream_key: key("probe", "stream") }),
    catalog: () => ({ catalog_key: key("catalog"), journal_key: key("journal", shardOf("catalog")) }),
    provider: (provider: string) => key("provider", provider),
    lease: (lease: string) => key("lease", lease),
    /** Of a piece of work: a job, or what it works on. */
    lock: (...name: string[]) => key("lock", ...name),
    /** The keys of one tenant, under the names that scripts give them. */
    tenant: (tenant: string) => ({
      tenant_key: key("tenant", tenant),
      subs_key: key("tenant", tenant, "subs"),
      due_key: key("due", shardOf(`tenant:${tenant}`)),
      journal_key: key("journal", shardOf(`tenant:${tenant}`)),
    }),
    hold: (tenant: string, hold_id: string) => key("hold", tenant, hold_id),
    op: (tenant: string, op_id: string) => key("op", tenant, op_id),
    due: (shard: number) => key("due", String(shard)),
    journal: (shard: number) => key("journal", String(shard)),
    /** The keys of one pool, under the names that scripts give them. */
    pool: (provider: string, pool: string) => {
      const pool_key = key("pool", provider, pool);
      return {
        pool_key,
        config_key: `${pool_key}:config`,
        secrets_key: `${pool_key}:secrets`,
        leases_key: `${pool_key}:leases`,
        journal_key: key("journal", shardOf(`pool:${homeOf(provider, pool)}`)),
      };
    },
  };
}

/** Which journal an aggregate's entries are in: a stable hash of its name. */
const shardOf = (aggregate: string) =>
  String((createHash("sha256").update(aggregate).digest()[0] ?? 0) % SHARDS);

/** A pool's name in a lease's record: `<provider>:<pool>`. */
export const homeOf = (provider: string, pool: string) => `${provider}:${pool}`;

/** The pool of a home. */
export const poolOfHome = (home: string) => home.slice(home.indexOf(":") + 1);
