// The request that costs nothing and shows whether a secret works: upstream's list of models.
import { ask } from "../pools/outside.ts";
import type { CredentialConfig } from "../pools/schema.ts";
import type { Secret } from "../sealing.ts";
import { classify } from "./classify.ts";
import { upstreamHeaders } from "./headers.ts";
import type { Dialect } from "./meter/dialect.ts";
import { upstreamUrl } from "./upstream-url.ts";

interface Asked {
  readonly provider: string;
  readonly config: CredentialConfig;
  readonly secret: Secret;
}

/** Who speaks Anthropic's dialect; all others speak OpenAI's. */
const ANTHROPIC: readonly ((asked: Asked) => boolean)[] = [
  ({ provider }) => provider === "anthropic",
  ({ config: { base_url } }) => /(^|\.)anthropic\.com$/.test(new URL(base_url ?? "http://none").hostname),
  ({ secret: { api_key } }) => typeof api_key === "string" && api_key.startsWith("sk-ant-"),
];

export const dialectFor = (asked: Asked): Dialect =>
  ANTHROPIC.some((speaks) => speaks(asked)) ? "anthropic_messages" : "openai_chat";

/** `unknown`: upstream did not say, whatever it said. */
export type Found = "works" | "refused" | "unknown";

export async function tryOut(asked: Asked): Promise<Found> {
  const { config, secret } = asked;
  if (!config.base_url) return "unknown";
  const dialect = dialectFor(asked);
  const headers = upstreamHeaders({ dialect, headers: new Headers(), scope: [], kind: config.kind, secret });
  headers.delete("content-type");
  const answer = await ask(upstreamUrl(config.base_url, "/v1/models"), { headers });
  if (!answer) return "unknown";
  if (answer.status >= 200 && answer.status < 300) return "works";
  return classify(dialect, answer).outcome === "auth_failed" ? "refused" : "unknown";
}
