// Where a call goes: the credential's base URL and the route's own path, and nothing that a caller wrote.

export type UpstreamPath =
  | "/v1/chat/completions"
  | "/v1/responses"
  | "/v1/embeddings"
  | "/v1/messages"
  | "/v1/messages/count_tokens"
  | "/v1/models";

/** A base that names a version already: `/v1`, `/api/paas/v4`, `/v1beta/openai`. */
const VERSIONED = /\/v\d+[a-z0-9]*(\/openai)?$/;

/** The base is checked when it is stored: https, without a query. Both SDKs' habits are understood, with the version and without. */
export function upstreamUrl(base_url: string, path: UpstreamPath): string {
  const base = base_url.replace(/\/+$/, "");
  return base + (VERSIONED.test(new URL(base).pathname) ? path.slice("/v1".length) : path);
}
