// Writing credentials: seal, then one script.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { patch } from "../scripts/pool/patch.ts";
import { put } from "../scripts/pool/put.ts";
import { run } from "../scripts/run.ts";
import { secretFingerprint } from "../sealing.ts";
import {
  type CredentialConfig,
  type CredentialPatch,
  credentialConfig,
  type NewCredential,
  type PutResult,
  secrets,
} from "./schema.ts";
import { defaultsOf, healthOf, limitsOf } from "./settings.ts";
import { baseUrlFault, hostOf } from "./upstream-url.ts";

export interface CredentialName {
  readonly provider: string;
  readonly pool: string;
  readonly key_id: string;
}

/** Why a change is refused: a field that is not valid, or a state that it contradicts. */
export interface Refused {
  readonly code: "invalid_request" | "policy_conflict";
  readonly field: string;
  readonly message: string;
}

const invalid = (field: string, message: string): Refused => ({ code: "invalid_request", field, message });
const conflict = (field: string, message: string): Refused => ({ code: "policy_conflict", field, message });

const taken = (what: "key_id" | "secret", provider: string, pool: string) =>
  conflict(what, `it is in pool ${pool} of ${provider} already`);

/** The end of an access token as a number, for the script; undefined where there is none. */
const tokenEnd = (secret: Record<string, unknown>) =>
  typeof secret.expires_at === "string" ? Date.parse(secret.expires_at) : undefined;

/** Fields in a fixed order, so that the same configuration is the same text. */
const configText = (config: CredentialConfig) => JSON.stringify(credentialConfig.parse(config));

const keysOf = (deps: Deps, { provider, pool }: { provider: string; pool: string }) => {
  const { leases_key: _, ...keys } = deps.keys.pool(provider, pool);
  return { ...keys, provider_key: deps.keys.provider(provider) };
};

/** Creates a credential or brings it up to date; what is refused changes nothing. Throws StoreUnavailable. */
export async function putCredential(
  deps: Deps,
  given: NewCredential,
): Promise<PutResult["result"] | Refused> {
  const { key_id, provider, pool, secret, max_concurrent_uses, status = "available", ...rest } = given;
  const fault = urlFault(deps, given.base_url);
  if (fault) return fault;
  const settings = defaultsOf(pool);
  const keys = keysOf(deps, given);
  const reply = await run(
    deps.store,
    put,
    { ...keys, index_key: deps.keys.index("pools") },
    {
      home: homeOf(provider, pool),
      pool_name: pool,
      credential_id: key_id,
      status,
      capacity: max_concurrent_uses,
      config: configText({ ...rest, token_expires_at_ms: tokenEnd(secret) }),
      fingerprint: secretFingerprint(secret),
      sealed: await deps.sealing.seal(secret, [provider, pool, key_id]),
      limits: limitsOf(settings),
      health: healthOf(settings),
    },
  );
  switch (reply.kind) {
    case "created":
    case "updated":
      deps.snapshots.forget(keys.pool_key);
      return reply.kind;
    case "unchanged":
      return reply.kind;
    case "elsewhere":
      return taken(reply.what, provider, reply.pool);
    case "full":
      return conflict("pool", `it has ${reply.members} credentials, the most a pool may have`);
  }
}

function urlFault(deps: Deps, base_url: string | null | undefined): Refused | undefined {
  const fault = base_url ? baseUrlFault(base_url, deps.settings.ALLOW_PRIVATE_UPSTREAMS) : undefined;
  return fault === undefined ? undefined : invalid("base_url", fault);
}

/** The configuration after a change, or why it may not be made. A secret must not follow its credential to another host. */
function patched(before: CredentialConfig, change: CredentialPatch): CredentialConfig | Refused {
  const { secret, base_url, models, weight } = change;
  if (base_url !== undefined && !secret && hostOf(base_url) !== hostOf(before.base_url)) {
    return invalid("secret", "another host of base_url needs the secret again");
  }
  const parsed = secret && secrets[before.kind].safeParse(secret);
  if (parsed && !parsed.success) return invalid("secret", `it is not one of kind ${before.kind}`);
  return {
    kind: before.kind,
    models: models ?? before.models,
    base_url: base_url === undefined ? before.base_url : (base_url ?? undefined),
    weight: weight ?? before.weight,
    token_expires_at_ms: secret ? tokenEnd(secret) : before.token_expires_at_ms,
  };
}

const PATCH_ATTEMPTS = 5;

/** Changes a part of a credential, by compare-and-set. undefined: there is no such credential. Throws StoreUnavailable. */
export async function patchCredential(
  deps: Deps,
  { provider, pool, key_id }: CredentialName,
  change: CredentialPatch,
): Promise<"patched" | Refused | undefined> {
  const fault = urlFault(deps, change.base_url);
  if (fault) return fault;
  const keys = keysOf(deps, { provider, pool });
  const { secret } = change;
  const sealed = secret ? await deps.sealing.seal(secret, [provider, pool, key_id]) : "";
  for (let attempt = 0; attempt < PATCH_ATTEMPTS; attempt++) {
    const [before] = await deps.store.read((p) => p.hget(keys.config_key, key_id));
    if (typeof before !== "string") return undefined;
    const config = patched(credentialConfig.parse(JSON.parse(before)), change);
    if ("code" in config) return config;
    const reply = await run(deps.store, patch, keys, {
      pool_name: pool,
      credential_id: key_id,
      config_before: before,
      config: configText(config),
      capacity: change.max_concurrent_uses ?? "",
      fingerprint: secret ? secretFingerprint(secret) : "",
      sealed,
    });
    if (reply.kind === "elsewhere") return taken(reply.what, provider, reply.pool);
    if (reply.kind === "not_found" || reply.kind === "absent") return undefined;
    deps.snapshots.forget(keys.pool_key);
    if (reply.kind === "patched") return "patched";
  }
  return conflict("credential", "others are changing it at the same time: send it again");
}
