// What becomes of a grant: a lease that can be used, or nothing, as if it had not been.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { log } from "../log.ts";
import type { CredentialConfig } from "../pools/schema.ts";
import { readSecret } from "../pools/state.ts";
import { undo } from "../scripts/lease/undo.ts";
import { run } from "../scripts/run.ts";
import type { Secret } from "../sealing.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import type { Ask, Granted } from "./ask.ts";
import { providerModel } from "./rank.ts";

export interface Lease {
  readonly kind: "granted";
  readonly lease_id: string;
  readonly pool: string;
  readonly grant: Granted;
  readonly secret: Secret;
  readonly config: CredentialConfig;
  readonly provider_model: string;
}

/**
 * Gives back a lease that nobody holds, record and all. `bench_it`: its secret does not open. `spend_it`: nobody will ask for
 * this id again, so a grant that is still on its way to Redis must not find it free.
 */
export async function undoGrant(
  deps: Deps,
  store: Store,
  ask: Ask,
  pool: string,
  { bench_it = false, spend_it = false } = {},
) {
  const { pool_key, leases_key } = deps.keys.pool(ask.provider, pool);
  const keys = { pool_key, leases_key, lease_key: deps.keys.lease(ask.lease_id) };
  const reply = await run(store, undo, keys, {
    lease_id: ask.lease_id,
    home: homeOf(ask.provider, pool),
    bench_it,
    spend_ms: spend_it ? deps.settings.LEASE_KEEP_MINUTES * MINUTE_MS : 0,
  });
  if (reply.kind === "undone") deps.metrics.lease("undone", homeOf(ask.provider, pool));
}

/** A credential's configuration; the snapshot may be older than the credential. */
async function configOf(
  deps: Deps,
  ask: Ask,
  pool: string,
  credential: string,
): Promise<CredentialConfig | undefined> {
  const known = await deps.snapshots.get(deps, ask.provider, pool);
  if (known?.configs.has(credential)) return known.configs.get(credential);
  const now = await deps.snapshots.refresh(deps, ask.provider, pool);
  return now?.configs.get(credential);
}

async function tryGrant(deps: Deps, ask: Ask, pool: string, grant: Granted): Promise<Lease | undefined> {
  const config = await configOf(deps, ask, pool, grant.credential);
  // A lease that is held is the same lease again, whatever became of its credential's models meanwhile.
  const provider_model =
    config && (providerModel(config, ask.model) ?? (grant.replayed ? ask.model : undefined));
  const { sealed } = readSecret(grant.secret);
  const secret = await deps.sealing.open(sealed, [ask.provider, pool, grant.credential]);
  if (secret && config && provider_model !== undefined) {
    return { kind: "granted", lease_id: ask.lease_id, pool, grant, secret, config, provider_model };
  }
  await undoGrant(deps, deps.store, ask, pool, { bench_it: !secret });
  if (!secret)
    log("error", "secret_does_not_open", { provider: ask.provider, pool, key_id: grant.credential });
  return undefined;
}

/**
 * The lease of a grant, or undefined when it cannot be used: then it is undone, and a secret that does not open is benched.
 * Whatever fails on the way, the grant stands in Redis: an outage says so, and after a bug it is given back.
 */
export async function openGrant(
  deps: Deps,
  ask: Ask,
  pool: string,
  grant: Granted,
): Promise<Lease | undefined> {
  try {
    return await tryGrant(deps, ask, pool, grant);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreUnavailable(error.reason, true, error.detail);
    if (!grant.replayed) deps.background(undoGrant(deps, deps.backgroundStore(), ask, pool));
    throw error;
  }
}
