// A credential's secret as headers, and out of texts: the one place of the gateway that knows how each kind is sent.
import { z } from "zod";
import type { CredentialConfig } from "../pools/schema.ts";
import type { Dialect } from "./meter/dialect.ts";

export interface Auth {
  readonly kind: CredentialConfig["kind"];
  /** As it is stored of this kind. */
  readonly secret: unknown;
}

/** Without it Anthropic's API takes no OAuth token. */
const ANTHROPIC_OAUTH_BETA = "oauth-2025-04-20";

const apiKey = z.object({ api_key: z.string() });
const oauth = z.object({ access_token: z.string() });
const session = z.object({
  headers: z.record(z.string(), z.string()).catch({}).default({}),
  cookie: z.string().optional().catch(undefined),
});

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const VALUE = /^[\x20-\x7e]{1,16384}$/;
/** Of the connection or the body, which are ours to make. */
const OURS =
  /^(host|connection|content-(length|encoding|type)|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|cf-.*)$/;

/** One that cannot be a header is left out: an exception would carry the secret in its text. */
function sendable(headers: Record<string, string>): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()] as const);
  return Object.fromEntries(
    lower.filter(([name, value]) => NAME.test(name) && VALUE.test(value) && !OURS.test(name)),
  );
}

/** None when the secret is not of the kind: upstream then says so itself. */
export function authHeaders(dialect: Dialect, { kind, secret }: Auth): Record<string, string> {
  const anthropic = dialect === "anthropic_messages";
  if (kind === "api_key") {
    const key = apiKey.safeParse(secret).data?.api_key ?? "";
    return sendable(anthropic ? { "x-api-key": key } : { authorization: key && `Bearer ${key}` });
  }
  if (kind === "oauth") {
    const token = oauth.safeParse(secret).data?.access_token ?? "";
    const beta = anthropic ? { "anthropic-beta": ANTHROPIC_OAUTH_BETA } : {};
    return sendable({ authorization: token && `Bearer ${token}`, ...beta });
  }
  const { headers = {}, cookie } = session.safeParse(secret).data ?? {};
  return sendable({ ...headers, ...(cookie === undefined ? {} : { cookie }) });
}

/** Shorter ones would be found in any text. */
const SHORTEST = 8;

/** The texts of a secret, whatever its kind. */
function textsOf(secret: unknown): string[] {
  if (typeof secret === "string") return [secret, ...secret.split(/[\s;,=]+/)];
  return typeof secret === "object" && secret !== null ? Object.values(secret).flatMap(textsOf) : [];
}

/** What upstream says, without a secret that it repeats. */
export function redacted(text: string, secret: unknown): string {
  const found = textsOf(secret).filter((each) => each.length >= SHORTEST && text.includes(each));
  found.sort((a, b) => b.length - a.length);
  return found.reduce((rest, each) => rest.replaceAll(each, "[redacted]"), text);
}
