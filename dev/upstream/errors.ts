// Errors of the demo upstream, in the words and shapes of the real services.

export type Dialect = "openai" | "anthropic";

export const errorKinds = [
  "rate_limited",
  "insufficient_quota",
  "auth_failed",
  "billing",
  "payment_required",
  "not_found",
  "bad_request",
  "server_error",
  "unavailable",
  "overloaded",
] as const;
export type ErrorKind = (typeof errorKinds)[number];

interface Row {
  status: number;
  message: string;
  /** OpenAI's `type` and `code`, Anthropic's `type`. */
  openai: [type: string, code: string | null];
  anthropic: string;
}

const table: Record<ErrorKind, Row> = {
  rate_limited: {
    status: 429,
    message: "Rate limit reached for requests: Limit 60, Used 60, Requested 1. Please try again later.",
    openai: ["requests", "rate_limit_exceeded"],
    anthropic: "rate_limit_error",
  },
  insufficient_quota: {
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    openai: ["insufficient_quota", "insufficient_quota"],
    anthropic: "rate_limit_error",
  },
  auth_failed: {
    status: 401,
    message: "Incorrect API key provided.",
    openai: ["invalid_request_error", "invalid_api_key"],
    anthropic: "authentication_error",
  },
  billing: {
    status: 400,
    message: "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade.",
    openai: ["invalid_request_error", null],
    anthropic: "invalid_request_error",
  },
  payment_required: {
    status: 402,
    message: "Insufficient Balance",
    openai: ["unknown_error", "invalid_request_error"],
    anthropic: "billing_error",
  },
  not_found: {
    status: 404,
    message: "The model does not exist or you do not have access to it.",
    openai: ["invalid_request_error", "model_not_found"],
    anthropic: "not_found_error",
  },
  bad_request: {
    status: 400,
    message: "The request is not valid.",
    openai: ["invalid_request_error", null],
    anthropic: "invalid_request_error",
  },
  server_error: {
    status: 500,
    message: "The server had an error while processing your request. Sorry about that!",
    openai: ["server_error", null],
    anthropic: "api_error",
  },
  unavailable: {
    status: 503,
    message: "The engine is currently overloaded, please try again later.",
    openai: ["server_error", null],
    anthropic: "api_error",
  },
  overloaded: {
    status: 529,
    message: "Overloaded",
    openai: ["server_error", "overloaded"],
    anthropic: "overloaded_error",
  },
};

/** A request that the upstream answers with an error. */
export class Refusal extends Error {
  readonly kind: ErrorKind;
  readonly param: string | null;
  constructor(kind: ErrorKind, message?: string, param: string | null = null) {
    super(message ?? table[kind].message);
    this.kind = kind;
    this.param = param;
  }
}

export function errorReply(dialect: Dialect, { kind, message, param }: Refusal) {
  const { status, openai, anthropic } = table[kind];
  const [type, code] = openai;
  const json =
    dialect === "anthropic"
      ? { type: "error", error: { type: anthropic, message }, request_id: "req_demo" }
      : { error: { message, type, param, code } };
  return { status, json };
}
