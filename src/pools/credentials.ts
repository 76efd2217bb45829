// Writing and reading credentials: seal, one script each, and a view without the secret.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { put } from "../scripts/pool/put.ts";
import { run } from "../scripts/run.ts";
import { secretFingerprint } from "../sealing.ts";
import { iso } from "../units.ts";
import { type CredentialView, credentialConfig, type NewCredential, type PutResult } from "./schema.ts";
import { DEFAULTS, healthOf, limitsOf } from "./settings.ts";
import { readSecret, readState } from "./state.ts";
import { baseUrlFault } from "./upstream-url.ts";

const refused = (key_id: string, code: "invalid_request" | "policy_conflict", detail: string): PutResult => ({
  key_id,
  result: "refused",
  error: { code, detail },
});

/** Creates a credential or brings it up to date; what is refused changes nothing. Throws StoreUnavailable. */
export async function putCredential(deps: Deps, given: NewCredential): Promise<PutResult> {
  const { key_id, provider, pool, secret, max_concurrent_uses, status = "available", ...rest } = given;
  const fault =
    given.base_url === undefined
      ? undefined
      : baseUrlFault(given.base_url, deps.settings.ALLOW_PRIVATE_UPSTREAMS);
  if (fault) return refused(key_id, "invalid_request", `base_url: ${fault}`);
  const { leases_key: _, ...poolKeys } = deps.keys.pool(provider, pool);
  const keys = {
    ...poolKeys,
    provider_key: deps.keys.provider(provider),
    index_key: deps.keys.index("pools"),
  };
  const reply = await run(deps.store, put, keys, {
    home: homeOf(provider, pool),
    pool_name: pool,
    credential_id: key_id,
    status,
    capacity: max_concurrent_uses,
    config: JSON.stringify(credentialConfig.parse(rest)),
    fingerprint: secretFingerprint(secret),
    sealed: await deps.sealing.seal(secret, [provider, pool, key_id]),
    limits: limitsOf(DEFAULTS),
    health: healthOf(DEFAULTS),
  });
  switch (reply.kind) {
    case "created":
    case "updated":
      deps.snapshots.forget(poolKeys.pool_key);
      return { key_id, result: reply.kind };
    case "unchanged":
      return { key_id, result: "unchanged" };
    case "elsewhere": {
      const what = reply.what === "key_id" ? "the key_id" : "the secret";
      return refused(key_id, "policy_conflict", `${what} is in pool ${reply.pool} of ${provider} already`);
    }
    case "full":
      return refused(
        key_id,
        "policy_conflict",
        `the pool has ${reply.members} credentials, the most it may have`,
      );
  }
}

const texts = z.array(z.string().nullable());

/** Credentials of one pool by id, without those that are not there; one round trip. */
export async function readCredentials(
  deps: Deps,
  provider: string,
  pool: string,
  ids: readonly string[],
): Promise<CredentialView[]> {
  if (ids.length === 0) return [];
  const keys = deps.keys.pool(provider, pool);
  const answers = await deps.store.read(
    ...[keys.pool_key, keys.config_key, keys.secrets_key].map(
      (key) => (p: Parameters<Parameters<Deps["store"]["read"]>[0]>[0]) => p.hmget(key, ...ids),
    ),
  );
  const [states = [], configs = [], secrets = []] = answers.map((answer) => texts.parse(answer));
  return ids.flatMap((key_id, i) => {
    const [state, config, secret] = [states[i], configs[i], secrets[i]];
    if (!state || !config || !secret) return [];
    const { status, until_ms, capacity, in_flight, used_at_ms } = readState(state);
    return {
      key_id,
      provider,
      pool,
      ...credentialConfig.parse(JSON.parse(config)),
      max_concurrent_uses: capacity,
      fingerprint: readSecret(secret).fingerprint,
      status,
      until: until_ms > 0 ? iso(until_ms) : null,
      in_flight,
      last_used_at: used_at_ms > 0 ? iso(used_at_ms) : null,
    };
  });
}
