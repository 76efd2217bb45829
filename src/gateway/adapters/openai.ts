// Errors of OpenAI's API, and of the many that speak its dialect. A provider that says it otherwise is one more row.
import {
  type Adapter,
  AUTH_FAILED,
  EXHAUSTED,
  NO_MODEL,
  NO_STREAM_OPTIONS,
  NOT_ALLOWED,
  NOT_HERE,
  REFUSED,
} from "./adapter.ts";

const FUNDS = [
  "insufficient_quota",
  "credit_balance_exhausted",
  "organization_spend_limit_exceeded",
  "project_spend_limit_exceeded",
  "organization_usage_limit_exceeded",
  "billing_hard_limit_reached",
  "billing_not_active",
  "exceeded_current_quota_error", // Moonshot
  "insufficient_balance",
  "payment_required",
];

const SECRET = [
  "invalid_api_key",
  "invalid_authentication_error", // Moonshot
  "account_deactivated",
  "organization_deactivated",
  "organization_restricted", // Groq
  "api_key_expired",
];

const MODEL = [
  "model_not_found",
  "model_not_available",
  "model_decommissioned",
  "invalid_model",
  "DeploymentNotFound",
];

export const openai: Adapter = {
  rules: [
    { status: [400, 422], body: /stream_options/, verdict: NO_STREAM_OPTIONS },
    { word: FUNDS, verdict: EXHAUSTED },
    {
      status: [400, 403, 429],
      says: /^(Your credit balance is too low|You exceeded your current quota|Insufficient (account )?balance|Your (newly created )?teams? \S.*\bcredits)/i,
      verdict: EXHAUSTED,
    },
    { word: SECRET, verdict: AUTH_FAILED },
    { status: [400, 403], says: /^(API key (not valid|expired)|Incorrect API key)/, verdict: AUTH_FAILED },
    // Of a key that may do some things and not others: the caller chose the other.
    { status: [401, 403], says: /^You have insufficient permissions/, verdict: NOT_ALLOWED },
    // Of a project that may not use the model; another credential's may.
    { status: [403], word: MODEL, verdict: { ...NOT_ALLOWED, code: "model_not_found" } },
    { word: MODEL, verdict: NO_MODEL },
    {
      status: [400, 404],
      says: /^(The )?model\b.*\b(not exist|not found|not supported)|is not a valid model|^No endpoints found/i,
      verdict: NO_MODEL,
    },
    { status: [404], says: /^(Not Found$|Invalid URL)/i, verdict: NOT_HERE },
    { word: ["unsupported_country_region_territory"], verdict: NOT_HERE },
    { status: [403], says: /moderation|flagged|content policy/i, verdict: REFUSED },
    // More than the credential's limit of a whole minute: waiting does not help, and a larger account might.
    { status: [429], says: /^Request too large for /, verdict: NOT_ALLOWED },
  ],
  statuses: {
    invalid_request_error: 400,
    authentication_error: 401,
    permission_error: 403,
    not_found_error: 404,
    rate_limit_error: 429,
    rate_limit_exceeded: 429,
    requests: 429,
    tokens: 429,
    slow_down: 429,
    content_filter: 400,
    invalid_prompt: 400,
    context_length_exceeded: 400,
  },
};
