// Writing credentials: seal, then one script.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import type { ReplyOf } from "../scripts/define.ts";
import { put } from "../scripts/pool/put.ts";
import { type Input, runMany } from "../scripts/run.ts";
import { type Secret, secretFingerprint } from "../sealing.ts";
import { type CredentialConfig, credentialConfig, type NewCredential } from "./schema.ts";
import { defaultsOf, healthOf, limitsOf } from "./settings.ts";
import { baseUrlFault } from "./upstream-url.ts";

/** Why a change is refused: a field that is not valid, or a state that it contradicts. */
export interface Refused {
  readonly code: "invalid_request" | "policy_conflict";
  readonly field: string;
  readonly message: string;
}

export const invalid = (field: string, message: string): Refused => ({
  code: "invalid_request",
  field,
  message,
});
export const conflict = (field: string, message: string): Refused => ({
  code: "policy_conflict",
  field,
  message,
});

export const taken = (what: "key_id" | "secret", provider: string, pool: string) =>
  conflict(what, `it is in pool ${pool} of ${provider} already`);

/** What of a secret is in the configuration, for those who do not open it: the end of its token, and whether it refreshes. */
export const ofSecret = (kind: CredentialConfig["kind"], { expires_at, token_url }: Secret) => ({
  token_expires_at_ms: typeof expires_at === "string" ? Date.parse(expires_at) : undefined,
  refreshes: kind === "oauth" && typeof token_url === "string" ? (true as const) : undefined,
});

/** Fields in a fixed order, so that the same configuration is the same text. */
export const configText = (config: CredentialConfig) => JSON.stringify(credentialConfig.parse(config));

export const keysOf = (deps: Deps, { provider, pool }: { provider: string; pool: string }) => {
  const { leases_key: _, ...keys } = deps.keys.pool(provider, pool);
  return { ...keys, provider_key: deps.keys.provider(provider) };
};

/** The input of the script that creates a credential or brings it up to date, or why there is none. */
async function preparePut(
  deps: Deps,
  given: NewCredential,
): Promise<Input<PutKey, typeof put.args> | Refused> {
  const { key_id, provider, pool, secret, max_concurrent_uses, status = "available", ...rest } = given;
  const fault = urlFault(deps, given.base_url) ?? tokenUrlFault(deps, given.kind, secret);
  if (fault) return fault;
  const settings = defaultsOf(pool);
  return {
    keys: { ...keysOf(deps, given), index_key: deps.keys.index("pools") },
    args: {
      home: homeOf(provider, pool),
      pool_name: pool,
      credential_id: key_id,
      status,
      capacity: max_concurrent_uses,
      config: configText({ ...rest, ...ofSecret(given.kind, secret) }),
      fingerprint: secretFingerprint(secret),
      sealed: await deps.sealing.seal(secret, [provider, pool, key_id]),
      limits: limitsOf(settings),
      health: healthOf(settings),
      note: deps.note(),
    },
  };
}

type PutKey = (typeof put.keys)[number];
type Put = "created" | "updated" | "unchanged";

function putResultOf(
  deps: Deps,
  { provider, pool }: NewCredential,
  reply: ReplyOf<typeof put.replies>,
): Put | Refused {
  switch (reply.kind) {
    case "created":
    case "updated":
      deps.snapshots.forget(deps.keys.pool(provider, pool).pool_key);
      return reply.kind;
    case "unchanged":
      return reply.kind;
    case "elsewhere":
      return taken(reply.what, provider, reply.pool);
    case "full":
      return conflict("pool", `it has ${reply.members} credentials, the most a pool may have`);
  }
}

/** Creates credentials or brings them up to date in one round trip; each is answered, and what is refused changes nothing. */
export async function putCredentials(
  deps: Deps,
  given: readonly NewCredential[],
): Promise<(Put | Refused | Error)[]> {
  const prepared = await Promise.all(given.map((one) => preparePut(deps, one)));
  const inputs = prepared.filter((one) => "args" in one);
  const replies = inputs.length > 0 ? await runMany(deps.store, put, inputs) : [];
  return prepared.map((one, i) => {
    if (!("args" in one)) return one;
    const reply = replies.shift();
    const credential = given[i];
    if (!reply || !credential) throw new Error("a reply is missing");
    return reply instanceof Error ? reply : putResultOf(deps, credential, reply);
  });
}

export function urlFault(deps: Deps, base_url: string | null | undefined): Refused | undefined {
  const fault = base_url ? baseUrlFault(base_url, deps.settings.ALLOW_PRIVATE_UPSTREAMS) : undefined;
  return fault === undefined ? undefined : invalid("base_url", fault);
}

/** A refresh sends secrets to its token_url, so the same holds for it. */
export function tokenUrlFault(
  deps: Deps,
  kind: CredentialConfig["kind"],
  { token_url }: Secret,
): Refused | undefined {
  if (kind !== "oauth" || typeof token_url !== "string") return undefined;
  const fault = baseUrlFault(token_url, deps.settings.ALLOW_PRIVATE_UPSTREAMS);
  return fault === undefined ? undefined : invalid("secret.token_url", fault);
}
