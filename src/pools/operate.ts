// The operator's verbs on a credential that is there: enable, disable, revoke its leases, look at them.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { readCallLease } from "../quota/hold.ts";
import { mark } from "../scripts/pool/mark.ts";
import { revoke } from "../scripts/pool/revoke.ts";
import { run, runMany } from "../scripts/run.ts";
import { iso } from "../units.ts";
import type { CredentialName, LeaseOfCredential } from "./schema.ts";
import { readLease, readState } from "./state.ts";

export type Mark = "available" | "disabled";

/** Marks credentials in one round trip. An answer each: how many leases go on, or undefined where there is none such. */
export async function markCredentials(deps: Deps, names: readonly CredentialName[], status: Mark) {
  const inputs = names.map(({ provider, pool, key_id }) => ({
    keys: deps.keys.pool(provider, pool),
    args: { home: homeOf(provider, pool), credential_id: key_id, status, note: deps.note() },
  }));
  const replies = await runMany(deps.store, mark, inputs);
  for (const { keys } of inputs) deps.snapshots.forget(keys.pool_key);
  return replies.map((reply) => {
    if (reply instanceof Error) return reply;
    return reply.kind === "marked" ? { leases_going_on: reply.in_flight, changed: reply.changed } : undefined;
  });
}

/** How many leases it ended; undefined: there is no such credential. Throws StoreUnavailable. */
export async function revokeLeases(deps: Deps, { provider, pool, key_id }: CredentialName) {
  const keys = deps.keys.pool(provider, pool);
  const args = { home: homeOf(provider, pool), credential_id: key_id, note: deps.note() };
  const reply = await run(deps.store, revoke, keys, args);
  deps.snapshots.forget(keys.pool_key);
  return reply.kind === "revoked" ? reply.ended : undefined;
}

const SCAN = 1000;
const scanned = z.tuple([z.union([z.string(), z.number()]), z.array(z.union([z.string(), z.number()]))]);
const texts = z.array(z.string().nullable());

/** Of a lease `<lease>`, of a call `<tenant>~<call>`. */
function recordKey({ keys }: Deps, lease_id: string) {
  const [tenant = "", call_id] = lease_id.split("~");
  return call_id === undefined ? keys.lease(lease_id) : keys.hold(tenant, call_id);
}

/**
 * One step of a scan over a credential's leases, with their holders; undefined: there is no such credential. A page may be empty
 * and go on, since the set holds the leases of the whole pool.
 */
export async function listLeases(deps: Deps, { provider, pool, key_id }: CredentialName, cursor: string) {
  const { pool_key, leases_key } = deps.keys.pool(provider, pool);
  const [state, page, time] = await deps.store.read(
    (p) => p.hget(pool_key, key_id),
    (p) => p.zscan(leases_key, cursor, { match: `${key_id} *`, count: SCAN }),
    (p) => p.time(),
  );
  if (typeof state !== "string") return undefined;
  const { revoked_fence } = readState(state);
  const now_ms = Number(z.array(z.coerce.number()).parse(time)[0]) * 1000;
  const [next, flat] = scanned.parse(page);
  const members = flat.flatMap((member, i) => {
    if (i % 2 === 1) return [];
    const [, fence = "", lease_id = ""] = String(member).split(" ");
    return Number(fence) > revoked_fence
      ? { lease_id, fence: Number(fence), expires_at_ms: Number(flat[i + 1]) }
      : [];
  });
  const keys = members.map(({ lease_id }) => recordKey(deps, lease_id));
  const [records] = keys.length > 0 ? await deps.store.read((p) => p.mget(...keys)) : [[]];
  const leases = texts.parse(records).flatMap((record, i): LeaseOfCredential[] => {
    const member = members[i];
    if (!record || !member) return [];
    const isCall = member.lease_id.includes("~");
    const { granted_at_ms, holder } = (isCall ? readCallLease(record) : undefined) ?? readLease(record);
    return [
      {
        lease_id: member.lease_id,
        holder: holder || null,
        fence: member.fence,
        granted_at: iso(granted_at_ms),
        age_seconds: Math.max(0, (now_ms - granted_at_ms) / 1000),
        expires_at: iso(member.expires_at_ms),
        overdue: member.expires_at_ms <= now_ms,
      },
    ];
  });
  return { leases, next_cursor: String(next) === "0" ? null : String(next) };
}
