// A token endpoint's answer to a refresh (RFC 6749, sections 5 and 6).
import { z } from "zod";
import { HOUR_MS, iso } from "../units.ts";
import { ask } from "./outside.ts";
import { secrets } from "./schema.ts";

export type OAuthSecret = z.output<typeof secrets.oauth>;

/** A token whose end is not said is taken to live so long. */
const UNSAID_MS = HOUR_MS;
const MOST_SECONDS = 10 * 365 * 24 * 3600;

const granted = z.object({
  access_token: z.string(),
  refresh_token: z.string().min(1).optional().catch(undefined),
  expires_in: z.coerce.number().min(0).max(MOST_SECONDS).optional().catch(undefined),
});
const refused = z.object({ error: z.string() });

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The new secret; `invalid_grant`: the refresh token is worth nothing any more; or in a word why there is neither. */
export type Refreshed =
  | { readonly secret: OAuthSecret }
  | "invalid_grant"
  | "no_answer"
  | "refused"
  | "not_a_token";

/** `now_ms` is Redis' time before the request: a token's end is counted from it, so never too late. */
export async function askForToken(
  secret: OAuthSecret,
  token_url: string,
  now_ms: number,
): Promise<Refreshed> {
  const { refresh_token = "", client_id, client_secret } = secret;
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token });
  if (client_id !== undefined) form.set("client_id", client_id);
  if (client_secret !== undefined) form.set("client_secret", client_secret);
  const answer = await ask(token_url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
  });
  if (!answer) return "no_answer";
  const body = parsed(answer.body);
  if (answer.status < 200 || answer.status >= 300) {
    const invalid = answer.status < 500 && refused.safeParse(body).data?.error === "invalid_grant";
    return invalid ? "invalid_grant" : "refused";
  }
  const { data } = granted.safeParse(body);
  if (!data) return "not_a_token";
  const lives_ms = data.expires_in === undefined ? UNSAID_MS : data.expires_in * 1000;
  const made = secrets.oauth.safeParse({
    ...secret,
    access_token: data.access_token,
    refresh_token: data.refresh_token ?? refresh_token,
    expires_at: iso(now_ms + lives_ms),
  });
  return made.data ? { secret: made.data } : "not_a_token";
}
