// One pool under measurement: its verbs on a direct connection, each a call of the production script.
import { mint } from "../../src/ids.ts";
import { homeOf, keysOf } from "../../src/keys.ts";
import { defaultsOf, healthOf, limitsOf } from "../../src/pools/settings.ts";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { allocate } from "../../src/scripts/lease/allocate.ts";
import { release } from "../../src/scripts/lease/release.ts";
import { renew } from "../../src/scripts/lease/renew.ts";
import { undo } from "../../src/scripts/lease/undo.ts";
import { configure } from "../../src/scripts/pool/configure.ts";
import { mark } from "../../src/scripts/pool/mark.ts";
import { patch } from "../../src/scripts/pool/patch.ts";
import { put } from "../../src/scripts/pool/put.ts";
import { remove } from "../../src/scripts/pool/remove.ts";
import { revoke } from "../../src/scripts/pool/revoke.ts";
import { run } from "../../src/scripts/run.ts";
import { inParallel } from "./timing.ts";

const KEEP_MS = 60 * 60_000;
/** 10 to 60 minutes: longer than the benchmark, and with no order in which they end. */
const someTerm_ms = () => Math.floor((10 + Math.random() * 50) * 60_000);

/** As long as real ones: a sealed key of some 120 characters, a configuration with a URL and two models. */
const SEALED = `k1.${"s".repeat(120)}`;
const CONFIG = JSON.stringify({
  kind: "api_key",
  base_url: "https://api.example.com/v1",
  models: { "gpt-large": "gpt-large-2026-01-01", "gpt-small": "gpt-small-2026-01-01" },
});

export type Pool = ReturnType<typeof poolOf>;

/** Credential ids of usual length. */
export const idsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `key-of-team-${String(i).padStart(5, "0")}`);

/** Also the name of a new cell. */
export const newLeaseId = () => mint("lse");

/** Each pool is alone in a cell of its own, so that neither ids of leases nor credentials meet. */
export function poolOf(store: Evaluator, cell: string) {
  const [provider, pool_name] = ["openai", "default"];
  const keys = keysOf(cell);
  const place = keys.pool(provider, pool_name);
  const { pool_key, secrets_key, leases_key } = place;
  const provider_key = keys.provider(provider);
  const home = homeOf(provider, pool_name);
  const settings = defaultsOf(pool_name);
  const [limits, health] = [limitsOf(settings), healthOf(settings)];
  const keysOfLease = (lease_id: string) => ({ pool_key, leases_key, lease_key: keys.lease(lease_id) });

  const putOne = (
    credential_id: string,
    capacity: number,
    more: { config?: string; fingerprint?: string } = {},
  ) =>
    run(
      store,
      put,
      { ...place, provider_key, index_key: keys.index("pools") },
      {
        home,
        pool_name,
        credential_id,
        status: "available",
        capacity,
        config: CONFIG,
        fingerprint: `print-of-${credential_id}`,
        sealed: SEALED,
        limits,
        health,
        note: "{}",
        ...more,
      },
    );

  /** The keys and arguments of an allocate. */
  const asked = (
    lease_id: string,
    candidates: string[],
    lease_ms = someTerm_ms(),
    fingerprint = "fingerprint-of-it",
  ) => ({
    keys: { ...keysOfLease(lease_id), secrets_key },
    args: {
      lease_id,
      home,
      holder: "worker-1",
      fingerprint,
      lease_ms,
      keep_ms: KEEP_MS,
      candidates,
      ends: {},
      borrowed: false,
    },
  });

  /** The keys and arguments of a release. */
  const reported = (
    lease_id: string,
    credential_id: string,
    outcome: "success" | "upstream_error" | "" = "success",
  ) => ({
    keys: keysOfLease(lease_id),
    args: { lease_id, home, credential_id, outcome, retry_after_ms: "" as const, keep_ms: KEEP_MS },
  });

  return {
    home,
    pool_key,
    leases_key,
    asked,
    reported,
    put: putOne,
    fill: (ids: readonly string[], capacity: number) =>
      inParallel(ids.length, 64, async (i) => {
        const { kind } = await putOne(ids[i] ?? "", capacity);
        if (kind !== "created" && kind !== "updated") throw new Error(`a credential was not added: ${kind}`);
      }),
    patch: (credential_id: string, capacity: number) =>
      run(
        store,
        patch,
        { ...place, provider_key },
        {
          home,
          pool_name,
          credential_id,
          config_before: CONFIG,
          config: CONFIG,
          fingerprint_before: "",
          capacity,
          fingerprint: "",
          sealed: "",
          actor: "admin",
          note: "{}",
        },
      ),
    mark: (credential_id: string) =>
      run(store, mark, place, { home, credential_id, status: "disabled", note: "{}" }),
    revoke: (credential_id: string) => run(store, revoke, place, { home, credential_id, note: "{}" }),
    configure: () =>
      run(store, configure, place, {
        home,
        settings_before: "",
        settings: JSON.stringify(settings),
        limits,
        health,
        note: "{}",
      }),
    remove: (credential_id: string) =>
      run(store, remove, { ...place, provider_key }, { home, pool_name, credential_id, note: "{}" }),
    allocate: (...how: Parameters<typeof asked>) => {
      const call = asked(...how);
      return run(store, allocate, call.keys, call.args);
    },
    release: (...how: Parameters<typeof reported>) => {
      const call = reported(...how);
      return run(store, release, call.keys, call.args);
    },
    renew: (lease_id: string, credential_id: string) =>
      run(store, renew, keysOfLease(lease_id), { lease_id, home, credential_id, lease_ms: someTerm_ms() }),
    undo: (lease_id: string) =>
      run(store, undo, keysOfLease(lease_id), { lease_id, home, bench_it: false, spend_ms: 0 }),
  };
}

/** Allocates where a grant is expected; a benchmark of refusals would look fast. */
export async function granted(pool: Pool, ...how: Parameters<Pool["allocate"]>) {
  const reply = await pool.allocate(...how);
  if (reply.kind !== "granted") throw new Error(`a grant was expected, not ${reply.kind}`);
  return reply;
}
