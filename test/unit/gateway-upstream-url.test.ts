// Where a call goes: a credential that only ever answers 404, if this failed.
import { expect, test } from "vitest";
import { type UpstreamPath, upstreamUrl } from "../../src/gateway/upstream-url.ts";

test.each<[string, UpstreamPath, string]>([
  ["https://host.example", "/v1/responses", "https://host.example/v1/responses"],
  ["https://host.example/", "/v1/responses", "https://host.example/v1/responses"],
  ["https://host.example/v1", "/v1/responses", "https://host.example/v1/responses"],
  ["https://host.example/v1/", "/v1/messages/count_tokens", "https://host.example/v1/messages/count_tokens"],
  ["https://host.example/api/v1", "/v1/embeddings", "https://host.example/api/v1/embeddings"],
  ["https://host.example/openai/v1//", "/v1/embeddings", "https://host.example/openai/v1/embeddings"],
  ["https://host.example/api", "/v1/messages", "https://host.example/api/v1/messages"],
  [
    "https://host.example/api/paas/v4",
    "/v1/chat/completions",
    "https://host.example/api/paas/v4/chat/completions",
  ],
  [
    "https://host.example/v1beta/openai/",
    "/v1/chat/completions",
    "https://host.example/v1beta/openai/chat/completions",
  ],
  ["https://host.example/v1/team", "/v1/messages", "https://host.example/v1/team/v1/messages"],
  ["https://host.example/dev1", "/v1/messages", "https://host.example/dev1/v1/messages"],
  ["http://v1", "/v1/messages", "http://v1/v1/messages"],
  ["http://127.0.0.1:8077", "/v1/messages", "http://127.0.0.1:8077/v1/messages"],
])("%s and %s", (base_url, path, url) => {
  expect(upstreamUrl(base_url, path)).toBe(url);
});
