// The gateway's own errors in the shape of each dialect, so that the official SDKs raise what their users catch, and repeat only
// what a repeat can cure.
import type { Code } from "../errors.ts";
import type { Dialect } from "./meter/dialect.ts";

export type GatewayCode =
  | Code
  | "model_not_found"
  | "limit_reached"
  | "rate_limited"
  | "upstream_error"
  | "upstream_timeout";

export interface GatewayError {
  readonly code: GatewayCode;
  readonly message: string;
  readonly request_id: string;
  /** The field that is not valid. */
  readonly param?: string | undefined;
  readonly retry_after_seconds?: number | undefined;
  /** Of `upstream_error`: the status of the last attempt. */
  readonly status?: number | undefined;
}

interface Row {
  readonly status: number;
  /** OpenAI's type and, where it is not ours, its code. */
  readonly openai: readonly [type: string, code?: string];
  readonly anthropic: string;
  /** Nothing that passes with time. */
  readonly final?: true;
}

const invalid = (status: number, anthropic = "invalid_request_error"): Row => ({
  status,
  openai: ["invalid_request_error"],
  anthropic,
  final: true,
});
const named = (status: number, type: string): Row => ({ status, openai: [type], anthropic: type });
const unavailable: Row = {
  status: 503,
  openai: ["service_unavailable_error"],
  anthropic: "overloaded_error",
};
const failed = (status: number, anthropic = "api_error"): Row => ({
  status,
  openai: ["server_error"],
  anthropic,
});

const table: Record<GatewayCode, Row> = {
  invalid_request: invalid(400),
  unauthenticated: {
    ...named(401, "authentication_error"),
    openai: ["authentication_error", "invalid_api_key"],
    final: true,
  },
  quota_exhausted: {
    status: 429,
    openai: ["insufficient_quota", "insufficient_quota"],
    anthropic: "billing_error",
    final: true,
  },
  forbidden: { ...named(403, "permission_error"), final: true },
  not_found: { ...named(404, "not_found_error"), final: true },
  model_not_found: { ...named(404, "not_found_error"), final: true },
  // The SDKs repeat a 409 as if it were a lock.
  policy_conflict: invalid(409),
  idempotency_conflict: invalid(409),
  lease_lost: unavailable,
  hold_closed: invalid(409),
  too_large: invalid(413, "request_too_large"),
  unsupported_media_type: invalid(415),
  no_capacity: named(429, "rate_limit_error"),
  concurrency_limited: named(429, "rate_limit_error"),
  rate_limited: named(429, "rate_limit_error"),
  limit_reached: named(429, "rate_limit_error"),
  internal_error: { ...failed(500), final: true },
  store_unavailable: unavailable,
  breaker_open: unavailable,
  upstream_error: failed(502),
  upstream_timeout: failed(504, "timeout_error"),
};

/** Longer waits the SDKs take for none, and repeat after half a second. */
const LONGEST_WAIT_SECONDS = 60;
/** Anthropic's own status of a lack of funds, which its SDKs do not repeat whatever the headers say. */
const ANTHROPIC_FUNDS = 402;

/** An upstream's refusal of a credential is not one of the caller's key: only what passes with time keeps its status. */
function statusOf(anthropic: boolean, { code, status }: GatewayError): number {
  if (code === "quota_exhausted" && anthropic) return ANTHROPIC_FUNDS;
  const kept = code === "upstream_error" && status !== undefined && (status === 429 || status >= 500);
  return kept && status <= 599 ? status : table[code].status;
}

function bodyOf(anthropic: boolean, { code, message, param, request_id }: GatewayError) {
  const row = table[code];
  if (anthropic) return { type: "error", error: { type: row.anthropic, message }, request_id };
  const [type, name = code] = row.openai;
  return { error: { message, type, param: param ?? null, code: name } };
}

/** A repeat cannot help, or not as soon as the SDKs would make it. */
function isFinal({ code, retry_after_seconds }: GatewayError): boolean {
  if (table[code].final) return true;
  // A window of hours or of a month, unless its end is said to be near.
  if (retry_after_seconds === undefined) return code === "limit_reached";
  return retry_after_seconds > LONGEST_WAIT_SECONDS;
}

export interface DialectError {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export function dialectError(dialect: Dialect, error: GatewayError): DialectError {
  const anthropic = dialect === "anthropic_messages";
  const { request_id, retry_after_seconds: wait } = error;
  const waits = wait !== undefined && !table[error.code].final;
  return {
    status: statusOf(anthropic, error),
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(anthropic && { "request-id": request_id }),
      ...(waits && { "retry-after": String(Math.max(1, Math.ceil(wait))) }),
      ...(isFinal(error) && { "x-should-retry": "false" }),
    },
    body: JSON.stringify(bodyOf(anthropic, error)),
  };
}

/** The same as the last event of a stream that has begun; whole, with the empty line behind it. */
export function dialectErrorEvent(dialect: Dialect, error: GatewayError): string {
  if (dialect === "anthropic_messages")
    return `event: error\ndata: ${JSON.stringify(bodyOf(true, error))}\n\n`;
  if (dialect !== "openai_responses") return `data: ${JSON.stringify(bodyOf(false, error))}\n\n`;
  const { message, param = null } = error;
  const [, code = error.code] = table[error.code].openai;
  return `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param })}\n\n`;
}
