// How upstream's errors are read: rules as data, the first that fits decides, and the status when none does.
import type { OUTCOMES } from "../../scripts/lease/release.ts";

export type Outcome = (typeof OUTCOMES)[number];
/** What may still serve the call: another credential, another route, or nobody. */
export type Retry = "next_credential" | "next_route" | "no";

export interface Verdict {
  readonly outcome: Outcome;
  readonly retry: Retry;
  /** What the caller of `classify` treats in its own way. */
  readonly code?: "model_not_found" | "stream_options_rejected";
}

/**
 * All conditions that a rule names must hold. What a caller can bring about must bench no credential, and messages repeat what
 * callers write: a rule that benches reads a code, or the beginning of a message.
 */
export interface Rule {
  readonly status?: readonly number[];
  /** One of the error's codes or types. */
  readonly word?: readonly string[];
  /** The error's message. */
  readonly says?: RegExp;
  /** The whole body. */
  readonly body?: RegExp;
  readonly verdict: Verdict;
}

export interface Adapter {
  readonly rules: readonly Rule[];
  /** The status that an error inside a 200 would have had, by its type or code. */
  readonly statuses: Readonly<Record<string, number>>;
}

const verdict = (outcome: Outcome, retry: Retry): Verdict => ({ outcome, retry });

export const SUCCESS = verdict("success", "no");
export const RATE_LIMITED = verdict("rate_limited", "next_credential");
export const EXHAUSTED = verdict("exhausted", "next_credential");
export const AUTH_FAILED = verdict("auth_failed", "next_credential");
export const UPSTREAM_ERROR = verdict("upstream_error", "next_credential");
/** The request's own fault: it would be refused anywhere. */
export const REFUSED = verdict("client_error", "no");
/** This credential may not do it, another may; that benches nobody. */
export const NOT_ALLOWED = verdict("client_error", "next_credential");
/** None of this route's credentials can. */
export const NOT_HERE = verdict("client_error", "next_route");
export const NO_MODEL: Verdict = { ...NOT_HERE, code: "model_not_found" };
export const NO_STREAM_OPTIONS: Verdict = { ...REFUSED, code: "stream_options_rejected" };

/** By status alone, for every dialect. A redirect is not followed: it would carry the secret elsewhere. */
export function byStatus(status: number): Verdict {
  if (status === 401) return AUTH_FAILED;
  if (status === 402) return EXHAUSTED;
  if (status === 403) return NOT_ALLOWED;
  if (status === 405) return NOT_HERE;
  if (status === 429) return RATE_LIMITED;
  if (status === 408 || status === 409 || status === 425) return UPSTREAM_ERROR;
  if (status >= 400 && status < 500) return REFUSED;
  return status >= 200 && status < 300 ? SUCCESS : UPSTREAM_ERROR;
}
