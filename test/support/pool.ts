// One pool under test: a short call per verb, with defaults for what a test does not care about.
import { homeOf } from "../../src/keys.ts";
import { defaultsOf, healthOf, limitsOf, type PoolSettings } from "../../src/pools/settings.ts";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { allocate } from "../../src/scripts/lease/allocate.ts";
import { type OUTCOMES, release } from "../../src/scripts/lease/release.ts";
import { renew } from "../../src/scripts/lease/renew.ts";
import { undo } from "../../src/scripts/lease/undo.ts";
import { configure } from "../../src/scripts/pool/configure.ts";
import { mark } from "../../src/scripts/pool/mark.ts";
import { patch } from "../../src/scripts/pool/patch.ts";
import { put } from "../../src/scripts/pool/put.ts";
import { reclaim } from "../../src/scripts/pool/reclaim.ts";
import { remove } from "../../src/scripts/pool/remove.ts";
import { revoke } from "../../src/scripts/pool/revoke.ts";
import { verify } from "../../src/scripts/pool/verify.ts";
import { run } from "../../src/scripts/run.ts";
import { keys } from "./redis.ts";

export const KEEP_MS = 120_000;
/** The caller's part of a journal entry. */
export const NOTE = "{}";

export function poolOf(
  store: () => Evaluator,
  provider = "openai",
  pool = "default",
  settings: PoolSettings = defaultsOf(pool),
) {
  const { pool_key, config_key, secrets_key, leases_key, journal_key } = keys.pool(provider, pool);
  const home = homeOf(provider, pool);
  const provider_key = keys.provider(provider);
  const ofLease = (lease_id: string) => ({ pool_key, leases_key, lease_key: keys.lease(lease_id) });
  return {
    pool_key,
    config_key,
    secrets_key,
    leases_key,
    provider_key,
    journal_key,
    home,
    put: (
      credential_id: string,
      capacity: number,
      more: Partial<Parameters<typeof run<never, typeof put.args, never>>[3]> = {},
    ) =>
      run(
        store(),
        put,
        { pool_key, config_key, secrets_key, provider_key, index_key: keys.index("pools"), journal_key },
        {
          home,
          pool_name: pool,
          credential_id,
          status: "available",
          capacity,
          config: "{}",
          fingerprint: `print-of-${credential_id}`,
          sealed: `k1.${credential_id}`,
          limits: limitsOf(settings),
          health: healthOf(settings),
          note: NOTE,
          ...more,
        },
      ),
    mark: (credential_id: string, status: "available" | "disabled") =>
      run(store(), mark, { pool_key, journal_key }, { home, credential_id, status, note: NOTE }),
    revoke: (credential_id: string) =>
      run(store(), revoke, { pool_key, journal_key }, { home, credential_id, note: NOTE }),
    configure: (now: PoolSettings, settings_before = "") =>
      run(
        store(),
        configure,
        { pool_key, config_key, journal_key },
        {
          home,
          settings_before,
          settings: JSON.stringify(now),
          limits: limitsOf(now),
          health: healthOf(now),
          note: NOTE,
        },
      ),
    patch: (
      credential_id: string,
      config_before: string,
      more: Partial<Parameters<typeof run<never, typeof patch.args, never>>[3]> = {},
    ) =>
      run(
        store(),
        patch,
        { pool_key, config_key, secrets_key, provider_key, journal_key },
        {
          home,
          pool_name: pool,
          credential_id,
          config_before,
          config: config_before,
          fingerprint_before: "",
          capacity: "",
          fingerprint: "",
          sealed: "",
          actor: "admin",
          note: NOTE,
          ...more,
        },
      ),
    /** What a probe found of a credential that was `status`. */
    verify: (
      credential_id: string,
      status: string,
      works: boolean,
      { fingerprint = `print-of-${credential_id}`, actor = "probe" as "probe" | "refresh" } = {},
    ) =>
      run(
        store(),
        verify,
        { pool_key, secrets_key, journal_key },
        { home, credential_id, fingerprint, status, works, actor, note: NOTE },
      ),
    remove: (credential_id: string) =>
      run(
        store(),
        remove,
        { pool_key, config_key, secrets_key, provider_key, journal_key },
        { home, pool_name: pool, credential_id, note: NOTE },
      ),
    allocate: (
      lease_id: string,
      candidates: string[],
      lease_ms = 1000,
      fingerprint = "args",
      more: { ends?: Record<string, number>; borrowed?: boolean } = {},
    ) =>
      run(
        store(),
        allocate,
        { ...ofLease(lease_id), secrets_key },
        {
          lease_id,
          home,
          holder: "worker-1",
          fingerprint,
          lease_ms,
          keep_ms: KEEP_MS,
          candidates,
          ends: {},
          borrowed: false,
          ...more,
        },
      ),
    renew: (lease_id: string, credential_id: string, lease_ms = 1000) =>
      run(store(), renew, ofLease(lease_id), { lease_id, home, credential_id, lease_ms }),
    release: (
      lease_id: string,
      credential_id: string,
      outcome: (typeof OUTCOMES)[number] | "" = "",
      retry_after_ms: number | "" = "",
    ) =>
      run(store(), release, ofLease(lease_id), {
        lease_id,
        home,
        credential_id,
        outcome,
        retry_after_ms,
        keep_ms: KEEP_MS,
      }),
    reclaim: () => run(store(), reclaim, { pool_key, leases_key }, {}),
    undo: (lease_id: string, bench_it = false, spend_ms = 0) =>
      run(store(), undo, ofLease(lease_id), { lease_id, home, bench_it, spend_ms }),
  };
}

/** `@pool`, by name. */
export function poolStateOf(text: string | null): Record<string, number | undefined> {
  const names =
    "version fence seq members capacity in_flight granted refused reserved blocked lost released reclaimed revoked";
  const values = (text ?? "").split(" ").map(Number);
  return Object.fromEntries(names.split(" ").map((name, i) => [name, values[i]]));
}

export type Pool = ReturnType<typeof poolOf>;

/** What a test looks at of a credential's packed state. */
export function stateOf(text: string | null | undefined) {
  const [, status, until_ms, capacity, in_flight, revoked_fence, used_at_ms, benched_fence, errors, success] =
    (text ?? "").split(" ");
  return {
    status,
    until_ms: Number(until_ms),
    capacity: Number(capacity),
    in_flight: Number(in_flight),
    revoked_fence: Number(revoked_fence),
    used_at_ms: Number(used_at_ms),
    benched_fence: Number(benched_fence),
    errors: Number(errors),
    success: Number(success),
  };
}
