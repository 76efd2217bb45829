// Changing a part of a credential: read, merge, and a compare-and-set.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { patch } from "../scripts/pool/patch.ts";
import { run } from "../scripts/run.ts";
import { secretFingerprint } from "../sealing.ts";
import {
  configText,
  conflict,
  invalid,
  keysOf,
  ofSecret,
  type Refused,
  taken,
  tokenUrlFault,
  urlFault,
} from "./credentials.ts";
import {
  type CredentialConfig,
  type CredentialName,
  type CredentialPatch,
  credentialConfig,
  secrets,
} from "./schema.ts";
import { hostOf } from "./upstream-url.ts";

/** The configuration after a change, or why it may not be made. A secret must not follow its credential to another host. */
function patched(deps: Deps, before: CredentialConfig, change: CredentialPatch): CredentialConfig | Refused {
  const { secret, base_url, models, weight } = change;
  if (base_url !== undefined && !secret && hostOf(base_url) !== hostOf(before.base_url)) {
    return invalid("secret", "another host of base_url needs the secret again");
  }
  const parsed = secret && secrets[before.kind].safeParse(secret);
  if (parsed && !parsed.success) return invalid("secret", `it is not one of kind ${before.kind}`);
  const fault = secret && tokenUrlFault(deps, before.kind, secret);
  if (fault) return fault;
  const { token_expires_at_ms, refreshes } = secret ? ofSecret(before.kind, secret) : before;
  return {
    kind: before.kind,
    models: models ?? before.models,
    base_url: base_url === undefined ? before.base_url : (base_url ?? undefined),
    weight: weight ?? before.weight,
    token_expires_at_ms,
    refreshes,
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
    const config = patched(deps, credentialConfig.parse(JSON.parse(before)), change);
    if ("code" in config) return config;
    const reply = await run(deps.store, patch, keys, {
      home: homeOf(provider, pool),
      pool_name: pool,
      credential_id: key_id,
      config_before: before,
      config: configText(config),
      fingerprint_before: "",
      capacity: change.max_concurrent_uses ?? "",
      fingerprint: secret ? secretFingerprint(secret) : "",
      sealed,
      actor: "admin",
      note: deps.note(),
    });
    if (reply.kind === "elsewhere") return taken(reply.what, provider, reply.pool);
    if (reply.kind === "not_found" || reply.kind === "absent") return undefined;
    deps.snapshots.forget(keys.pool_key);
    if (reply.kind === "patched") return "patched";
  }
  return conflict("credential", "others are changing it at the same time: send it again");
}
