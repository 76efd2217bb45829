// What becomes of a grant: a lease that can be used, or nothing, as if it had not been.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { log } from "../log.ts";
import type { CredentialConfig } from "../pools/schema.ts";
import { readSecret } from "../pools/state.ts";
import type { Secret } from "../sealing.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import type { Granted, Question, Undo } from "./question.ts";
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

/** Gives back a grant that nobody holds. */
export async function undoGrant(
  deps: Deps,
  store: Store,
  question: Question<unknown>,
  pool: string,
  how: Undo = {},
) {
  if (await question.undo(store, pool, how)) deps.metrics.lease("undone", homeOf(question.provider, pool));
}

/** A credential's configuration; the snapshot may be older than the credential. */
async function configOf(
  deps: Deps,
  question: Question<unknown>,
  pool: string,
  credential: string,
): Promise<CredentialConfig | undefined> {
  const known = await deps.snapshots.get(deps, question.provider, pool);
  if (known?.configs.has(credential)) return known.configs.get(credential);
  const now = await deps.snapshots.refresh(deps, question.provider, pool);
  return now?.configs.get(credential);
}

async function tryGrant(
  deps: Deps,
  question: Question<unknown>,
  pool: string,
  grant: Granted,
): Promise<Lease | undefined> {
  const config = await configOf(deps, question, pool, grant.credential);
  // A lease that is held is the same lease again, whatever became of its credential's models meanwhile.
  const provider_model =
    config && (providerModel(config, question.model) ?? (grant.replayed ? question.model : undefined));
  const { sealed } = readSecret(grant.secret);
  const secret = await deps.sealing.open(sealed, [question.provider, pool, grant.credential]);
  if (secret && config && provider_model !== undefined) {
    return { kind: "granted", lease_id: question.id, pool, grant, secret, config, provider_model };
  }
  await undoGrant(deps, deps.store, question, pool, secret ? {} : { outcome: "auth_failed" });
  if (!secret)
    log("error", "secret_does_not_open", { provider: question.provider, pool, key_id: grant.credential });
  return undefined;
}

/**
 * The lease of a grant, or undefined when it cannot be used: then it is undone, and a secret that does not open is benched.
 * Whatever fails on the way, the grant stands in Redis: an outage says so, and after a bug it is given back.
 */
export async function openGrant(
  deps: Deps,
  question: Question<unknown>,
  pool: string,
  grant: Granted,
): Promise<Lease | undefined> {
  try {
    return await tryGrant(deps, question, pool, grant);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreUnavailable(error.reason, true, error.detail);
    if (!grant.replayed) deps.background(undoGrant(deps, deps.backgroundStore(), question, pool));
    throw error;
  }
}
