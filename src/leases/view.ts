// A lease as its holder sees it.
import type { Secret } from "../sealing.ts";
import { iso } from "../units.ts";
import type { Lease } from "./grant.ts";
import type { LeaseView } from "./schema.ts";

/** Whoever holds a lease gets what goes upstream and no more: never an OAuth refresh token. */
function credentialOf(secret: Secret, kind: Lease["config"]["kind"]) {
  const { access_token } = secret;
  return kind === "oauth" ? { access_token } : secret;
}

/** When a lease ends, and whether a renewal could move that. */
export const terms = (ends: { expires_at_ms: number; expires_in_ms: number; max_expires_at_ms: number }) => ({
  expires_at: iso(ends.expires_at_ms),
  expires_in_seconds: ends.expires_in_ms / 1000,
  renewable: ends.expires_at_ms < ends.max_expires_at_ms,
  max_expires_at: iso(ends.max_expires_at_ms),
});

export const viewOf = (
  { grant, config, ...lease }: Lease,
  asked: { provider: string; pool: string },
): LeaseView => ({
  key_id: grant.credential,
  lease_id: lease.lease_id,
  provider: asked.provider,
  pool: lease.pool,
  fallback: lease.pool !== asked.pool,
  provider_model: lease.provider_model,
  credential: credentialOf(lease.secret, config.kind),
  base_url: config.base_url ?? null,
  fence: grant.fence,
  ...terms(grant),
});
