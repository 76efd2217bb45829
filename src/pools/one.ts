// One credential as a job reads it before it acts: its parts as they are stored, and Redis' time.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { timeOf } from "./look.ts";
import { type CredentialConfig, type CredentialName, credentialConfig } from "./schema.ts";
import { type CredentialState, readSecret, readState } from "./state.ts";

export interface One {
  readonly config_text: string;
  readonly config: CredentialConfig;
  readonly fingerprint: string;
  readonly sealed: string;
  readonly state: CredentialState;
  readonly now_ms: number;
}

const text = z.string().nullable();

/** undefined: there is no such credential any more. Throws StoreUnavailable. */
export async function readOne(
  deps: Deps,
  { provider, pool, key_id }: CredentialName,
): Promise<One | undefined> {
  const { pool_key, config_key, secrets_key } = deps.keys.pool(provider, pool);
  const [state, config, secret, time] = await deps.backgroundStore().read(
    (p) => p.hget(pool_key, key_id),
    (p) => p.hget(config_key, key_id),
    (p) => p.hget(secrets_key, key_id),
    (p) => p.time(),
  );
  const parts = [state, config, secret].map((part) => text.parse(part));
  const [state_text, config_text, secret_text] = parts;
  if (!state_text || !config_text || !secret_text) return undefined;
  return {
    config_text,
    config: credentialConfig.parse(JSON.parse(config_text)),
    ...readSecret(secret_text),
    state: readState(state_text),
    now_ms: timeOf(time),
  };
}
