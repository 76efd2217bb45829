// A job's word on a credential, for the secret and the status that it looked at.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { verify } from "../scripts/pool/verify.ts";
import { run } from "../scripts/run.ts";
import type { One } from "./one.ts";
import type { CredentialName } from "./schema.ts";

/** Throws StoreUnavailable. */
export async function verifyCredential(
  deps: Deps,
  { provider, pool, key_id }: CredentialName,
  { fingerprint, state }: One,
  { works, actor }: { works: boolean; actor: "probe" | "refresh" },
) {
  const keys = deps.keys.pool(provider, pool);
  const reply = await run(deps.backgroundStore(), verify, keys, {
    home: homeOf(provider, pool),
    credential_id: key_id,
    fingerprint,
    status: state.status,
    works,
    actor,
    note: deps.note(),
  });
  deps.snapshots.forget(keys.pool_key);
  return reply;
}
