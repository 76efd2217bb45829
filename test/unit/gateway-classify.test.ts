// What upstream's errors mean: good credentials out of service, or bad ones in it, if these failed.
import { expect, test } from "vitest";
import { errorKinds, errorReply, Refusal } from "../../dev/upstream/errors.ts";
import { classify } from "../../src/gateway/classify.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";

const verdict = (dialect: Dialect, status: number, body: unknown) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const { outcome, retry, code } = classify(dialect, { status, headers: new Headers(), body: text });
  return [outcome, retry, ...(code ? [code] : [])].join(" ");
};
const error = (message: string, type: string | null = "invalid_request_error", code: unknown = null) => ({
  error: { message, type, param: null, code },
});
const claude = (type: string, message: string, details?: object) => ({
  type: "error",
  error: { type, message, ...(details && { details }) },
});

const MOVES = "upstream_error next_credential";
const EMPTY = "exhausted next_credential";
const LIMITED = "rate_limited next_credential";
const LOCKED = "auth_failed next_credential";
const REFUSED = "client_error no";
const ANOTHER = "client_error next_credential";
const ELSEWHERE = "client_error next_route";
const NO_MODEL = "client_error next_route model_not_found";

const demo: Record<(typeof errorKinds)[number], string> = {
  rate_limited: LIMITED,
  insufficient_quota: EMPTY,
  auth_failed: LOCKED,
  billing: EMPTY,
  payment_required: EMPTY,
  not_found: NO_MODEL,
  bad_request: REFUSED,
  server_error: MOVES,
  unavailable: MOVES,
  overloaded: MOVES,
};

test.each(errorKinds)("the demo upstream's %s, in either dialect", (kind) => {
  const openai = errorReply("openai", new Refusal(kind));
  expect(verdict("openai_chat", openai.status, openai.json)).toBe(demo[kind]);
  const anthropic = errorReply("anthropic", new Refusal(kind));
  // Anthropic has no such answer.
  if (kind === "insufficient_quota") return;
  expect(verdict("anthropic_messages", anthropic.status, anthropic.json)).toBe(demo[kind]);
});

test.each([
  [
    "case B13: no funds, by its type",
    429,
    error("x", "insufficient_quota", "project_spend_limit_exceeded"),
    EMPTY,
  ],
  ["case B13: no credits, by its code", 429, error("x", null, "credit_balance_exhausted"), EMPTY],
  ["case B13: a limit of requests", 429, error("x", "requests", "rate_limit_exceeded"), LIMITED],
  ["case B13: 402 whatever it says", 402, "<html>", EMPTY],
  ["Moonshot's funds", 429, error("x", "exceeded_current_quota_error"), EMPTY],
  ["xAI's funds", 403, { code: "x", error: "Your team T has used all available credits" }, EMPTY],
  ["slow down", 429, error("x", "rate_limit_error", "slow_down"), LIMITED],
  ["429 without a body", 429, "", LIMITED],
  ["larger than a minute's limit", 429, error("Request too large for gpt-4o on tokens per min"), ANOTHER],
  ["401", 401, error("x", "invalid_request_error", "invalid_api_key"), LOCKED],
  ["401 without a body", 401, "", LOCKED],
  ["a key without the right", 401, error("You have insufficient permissions for this operation."), ANOTHER],
  [
    "Gemini's wrong key",
    400,
    [{ error: { code: 400, message: "API key not valid. Please pass one." } }],
    LOCKED,
  ],
  ["a closed account", 403, error("x", null, "account_deactivated"), LOCKED],
  ["a project without the model", 403, error("x", null, "model_not_found"), `${ANOTHER} model_not_found`],
  ["a country", 403, error("x", "request_forbidden", "unsupported_country_region_territory"), ELSEWHERE],
  ["moderation", 403, { error: { code: 403, message: "Your input was flagged" } }, REFUSED],
  ["403 that says nothing", 403, error("Forbidden"), ANOTHER],
  ["403 of something between", 403, "<html>Attention Required!</html>", ANOTHER],
  ["no model", 404, error("x", "invalid_request_error", "model_not_found"), NO_MODEL],
  [
    "vLLM's no model",
    404,
    { object: "error", message: "The model `m` does not exist.", code: 404 },
    NO_MODEL,
  ],
  ["Ollama's no model", 404, error("model 'm' not found, try pulling it first", "api_error"), NO_MODEL],
  ["DeepSeek's no model", 400, error("Model Not Exist"), NO_MODEL],
  ["OpenRouter's no model", 400, { error: { code: 400, message: "x/y is not a valid model ID" } }, NO_MODEL],
  ["a path that is not there", 404, { detail: "Not Found" }, ELSEWHERE],
  ["a wrong base URL", 404, "404 page not found", ELSEWHERE],
  ["another 404", 404, error("No such file"), REFUSED],
  ["a method", 405, "", ELSEWHERE],
  ["a redirect", 307, "", MOVES],
  ["408", 408, "", MOVES],
  ["409", 409, "", MOVES],
  [
    "a context that is too long",
    400,
    error("x", "invalid_request_error", "context_length_exceeded"),
    REFUSED,
  ],
  ["413", 413, "", REFUSED],
  ["422", 422, { detail: [{ loc: ["body", "temperature"] }] }, REFUSED],
  ["500 as text", 500, "Internal Server Error", MOVES],
  ["502", 502, "<html>", MOVES],
  ["529", 529, "", MOVES],
])("OpenAI's dialect: %s", (_, status, body, expected) => {
  expect(verdict("openai_chat", status, body)).toBe(expected);
  expect(verdict("openai_responses", status, body)).toBe(expected);
  expect(verdict("openai_embeddings", status, body)).toBe(expected);
});

test.each([
  [
    "case B12: billing",
    400,
    claude("invalid_request_error", "Your credit balance is too low to access"),
    EMPTY,
  ],
  ["case B12: an ordinary 400", 400, claude("invalid_request_error", "max_tokens: Field required"), REFUSED],
  [
    "a spend limit that was set",
    400,
    claude("x", "You have reached your specified API usage limits."),
    EMPTY,
  ],
  [
    "a spend limit of the tier",
    429,
    claude("rate_limit_error", "x", { error_code: "enforced_spend_limit_reached" }),
    EMPTY,
  ],
  ["402", 402, claude("billing_error", "x"), EMPTY],
  ["429", 429, claude("rate_limit_error", "x"), LIMITED],
  [
    "a plan without long prompts",
    429,
    claude("x", "Extra usage is required for long context requests."),
    ANOTHER,
  ],
  ["401", 401, claude("authentication_error", "invalid x-api-key"), LOCKED],
  [
    "a closed organization",
    400,
    claude("invalid_request_error", "This organization has been disabled."),
    LOCKED,
  ],
  ["a revoked token", 403, claude("permission_error", "OAuth token has been revoked."), LOCKED],
  [
    "403 of a resource",
    403,
    claude("permission_error", "Your API key does not have permission to use it"),
    ANOTHER,
  ],
  ["no model", 404, claude("not_found_error", "model: claude-x"), NO_MODEL],
  ["another 404", 404, claude("not_found_error", "file not found"), REFUSED],
  ["too large", 413, claude("request_too_large", "x"), REFUSED],
  ["500", 500, claude("api_error", "x"), MOVES],
  ["529", 529, claude("overloaded_error", "Overloaded"), MOVES],
])("Anthropic's dialect: %s", (_, status, body, expected) => {
  expect(verdict("anthropic_messages", status, body)).toBe(expected);
});

test.each([
  error("Invalid value: 'Your credit balance is too low'. Supported values are: 'a'."),
  error("Unknown parameter: 'insufficient_quota'.", "invalid_request_error", "unknown_parameter"),
  error("Invalid 'messages': Insufficient balance"),
  claude("invalid_request_error", 'tools.0.name: "This organization has been disabled" is not valid'),
  "Your credit balance is too low",
  "",
])("case B11: no text of a caller benches a credential, though upstream repeats it: %j", (body) => {
  for (const status of [400, 404, 413, 422]) {
    expect(verdict("openai_chat", status, body)).toMatch(/^client_error/);
    expect(verdict("anthropic_messages", status, body)).toMatch(/^client_error/);
  }
});

test.each([
  [400, error("Unrecognized request argument supplied: stream_options")],
  [
    422,
    { message: { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options", "include_usage"] }] } },
  ],
  [400, { detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] }],
])("case E46: upstream takes no stream_options, which benches nobody: %s", (status, body) => {
  expect(verdict("openai_chat", status, body)).toBe(`${REFUSED} stream_options_rejected`);
  expect(verdict("openai_chat", 500, body)).toBe(MOVES);
});
