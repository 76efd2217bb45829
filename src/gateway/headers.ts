// Which headers pass, both ways: lists of what may, so that whatever is new or unknown stays here.

import { derive } from "../ids.ts";
import { retryAfterMs } from "../leases/retry-after.ts";
import { type Auth, authHeaders } from "./auth.ts";
import type { Dialect } from "./meter/dialect.ts";

/**
 * Of the caller's. Not among them: what says who calls (user-agent, x-stainless-*, cookies, addresses), what belongs to the
 * credential (authorization, openai-organization, openai-project), and what belongs to one connection.
 */
const TO_UPSTREAM: Record<Dialect, readonly string[]> = {
  openai_chat: ["accept", "openai-beta"],
  openai_responses: ["accept", "openai-beta"],
  openai_embeddings: ["accept", "openai-beta"],
  anthropic_messages: ["accept", "anthropic-version", "anthropic-beta"],
};

/** Of upstream's. Its limits (x-ratelimit-*, anthropic-ratelimit-*) are of a credential that many share; the rest tells whose it is. */
const TO_CALLER = ["content-type", "x-should-retry"];
const UPSTREAM_IDS = ["x-request-id", "request-id"];

/** Anthropic's API answers no request without one. */
const ANTHROPIC_VERSION = "2023-06-01";
const PRINTABLE = /^[\x21-\x7e]{1,128}$/;

export interface Outgoing extends Auth {
  readonly dialect: Dialect;
  /** The caller's. */
  readonly headers: Headers;
  /** Whose idempotency keys are kept apart from others': a tenant with its sub-account. */
  readonly scope: readonly string[];
}

/** What goes upstream: the caller's that may, and the credential's, which come last. */
export function upstreamHeaders({ dialect, headers, scope, ...auth }: Outgoing): Headers {
  const made = new Headers({ "content-type": "application/json" });
  if (dialect === "anthropic_messages") made.set("anthropic-version", ANTHROPIC_VERSION);
  for (const name of TO_UPSTREAM[dialect]) {
    const value = headers.get(name);
    if (value) made.set(name, value);
  }
  // Two tenants on one credential may choose the same key, and neither may get the other's answer.
  const key = headers.get("idempotency-key");
  if (key) made.set("idempotency-key", derive("qm", [...scope, key]));
  for (const [name, value] of Object.entries(authHeaders(dialect, auth))) {
    const beta = name === "anthropic-beta" ? made.get(name) : null;
    if (!beta) made.set(name, value);
    else if (!beta.includes(value)) made.append(name, value);
  }
  return made;
}

/** What goes to the caller of an upstream's response. An answer is the caller's alone, so nothing on the way keeps it. */
export function callerHeaders(upstream: Headers): Headers {
  const made = new Headers({ "cache-control": "no-store" });
  for (const name of TO_CALLER) {
    const value = upstream.get(name);
    if (value) made.set(name, value);
  }
  // In seconds: a date would count from upstream's clock, and some callers read nothing else.
  const wait_ms = retryAfterMs(upstream.get("retry-after") ?? undefined, upstream.get("date") ?? undefined);
  if (wait_ms !== undefined) made.set("retry-after", String(Math.ceil(wait_ms / 1000)));
  const id = UPSTREAM_IDS.map((name) => upstream.get(name)).find((value) => value && PRINTABLE.test(value));
  if (id) made.set("x-qm-upstream-request-id", id);
  return made;
}
