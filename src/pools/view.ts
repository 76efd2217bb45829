// Credentials as an operator sees them: configuration and live state, a fingerprint in place of the secret.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import type { Read } from "../store.ts";
import { isoOrNull } from "../units.ts";
import { type CredentialView, credentialConfig } from "./schema.ts";
import { readSecret, readState } from "./state.ts";

const texts = z.array(z.string().nullable());

function viewOf(
  provider: string,
  pool: string,
  key_id: string,
  state: string,
  config: string,
  secret: string,
): CredentialView {
  const now = readState(state);
  const {
    kind,
    models,
    base_url = null,
    weight = 1,
    token_expires_at_ms = 0,
  } = credentialConfig.parse(JSON.parse(config));
  return {
    key_id,
    provider,
    pool,
    kind,
    models,
    base_url,
    weight,
    token_expires_at: isoOrNull(token_expires_at_ms),
    max_concurrent_uses: now.capacity,
    fingerprint: readSecret(secret).fingerprint,
    status: now.status,
    until: isoOrNull(now.until_ms),
    in_flight: now.in_flight,
    success_rate: now.success < 0 ? null : now.success / 1000,
    errors_in_a_row: now.errors,
    last_used_at: isoOrNull(now.used_at_ms),
    verified_at: isoOrNull(now.verified_at_ms),
  };
}

/** Credentials of one pool by id, without those that are not there; one round trip. */
export async function readCredentials(
  deps: Deps,
  provider: string,
  pool: string,
  ids: readonly string[],
): Promise<CredentialView[]> {
  if (ids.length === 0) return [];
  const { pool_key, config_key, secrets_key } = deps.keys.pool(provider, pool);
  const reads = [pool_key, config_key, secrets_key].map(
    (key): Read =>
      (p) =>
        p.hmget(key, ...ids),
  );
  const [states = [], configs = [], secrets = []] = (await deps.store.read(...reads)).map((answer) =>
    texts.parse(answer),
  );
  return ids.flatMap((key_id, i) => {
    const [state, config, secret] = [states[i], configs[i], secrets[i]];
    return state && config && secret ? viewOf(provider, pool, key_id, state, config, secret) : [];
  });
}
