// Errors of Anthropic's API, and of those that speak its dialect.
import { type Adapter, AUTH_FAILED, EXHAUSTED, NO_MODEL, NOT_ALLOWED, NOT_HERE } from "./adapter.ts";

export const anthropic: Adapter = {
  rules: [
    { word: ["billing_error", "enforced_spend_limit_reached"], verdict: EXHAUSTED },
    {
      status: [400, 403, 429],
      says: /^(Your credit balance is too low|You have reached your specified (workspace )?API usage limits)/,
      verdict: EXHAUSTED,
    },
    { word: ["authentication_error"], verdict: AUTH_FAILED },
    { status: [400, 403], says: /^This organization has been disabled/, verdict: AUTH_FAILED },
    {
      status: [403],
      says: /^(OAuth (token has been revoked|authentication is currently not)|Your (account|organization) (has been|is) (disabled|suspended))/,
      verdict: AUTH_FAILED,
    },
    { status: [404], says: /^(the )?model\b/i, verdict: NO_MODEL },
    { status: [404], says: /^(Not Found$|Invalid URL)/i, verdict: NOT_HERE },
    // A prompt that this plan does not take; another account's may.
    {
      status: [400, 429],
      says: /^(Extra usage is required for long context|The long context beta)/,
      verdict: NOT_ALLOWED,
    },
  ],
  statuses: {
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  },
};
