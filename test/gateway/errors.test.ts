// Errors as the official SDKs raise them: a program that catches nothing it knows, or storms, if these failed.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway();
const { admin, redis } = gateway.worker;

interface Raised {
  name: string;
  status: number;
  code: unknown;
  type: unknown;
}
const raised = async (ask: PromiseLike<unknown>): Promise<Raised> => {
  const error = await Promise.resolve(ask).then(
    () => new Error("no error"),
    (thrown) => thrown,
  );
  return { name: error.constructor.name, status: error.status, code: error.code, type: error.type };
};
const chat = (more: object = {}, options: object = {}) =>
  gateway.openai(options).chat.completions.create({ model: "demo-chat", messages: HELLO, ...more });
const message = (more: object = {}, options: object = {}) =>
  gateway
    .anthropic(options)
    .messages.create({ model: "demo-claude", max_tokens: 50, messages: HELLO, ...more });

const zero = () => gateway.ledger.adjust("account", "zero");
const freeze = () => admin("PATCH", "/tenants/acme", { status: "frozen" });
const disable = () => admin("POST", "/credentials/demo/default/key_01/disable");
const breaker = () => admin("PATCH", "/pools/demo/default", { breaker: { mode: "open" } });
const revoke = async () => {
  const path = "/tenants/acme/sub-accounts/alice/tokens";
  const { body } = await admin("GET", path);
  await chat();
  await admin("DELETE", `${path}/${body.tokens[0].token_id}`);
};
const nothing = async () => {};

describe("openai", () => {
  test.each([
    ["no funds", zero, {}, OpenAI.RateLimitError, 429, "insufficient_quota"],
    ["a revoked token, at once", revoke, {}, OpenAI.AuthenticationError, 401, "invalid_api_key"],
    ["a frozen tenant", freeze, {}, OpenAI.PermissionDeniedError, 403, "forbidden"],
    ["an unknown model", nothing, { model: "nobody" }, OpenAI.NotFoundError, 404, "model_not_found"],
    ["a bad limit", nothing, { max_tokens: -1 }, OpenAI.BadRequestError, 400, "invalid_request"],
    ["no capacity", disable, {}, OpenAI.RateLimitError, 429, "no_capacity"],
    ["an open breaker", breaker, {}, OpenAI.InternalServerError, 503, "breaker_open"],
  ] as const)("%s", async (_, arrange, more, type, status, code) => {
    await arrange();
    expect(await raised(chat(more))).toMatchObject({ name: type.name, status, code });
  });

  test("a wrong token, and a key of another kind", async () => {
    for (const apiKey of ["qm_acme~alice~wrong", `${gateway.token.slice(0, -1)}_`, "sk-demo-key_01"])
      expect(await raised(chat({}, { apiKey }))).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("a failing upstream, after all was tried", async () => {
    gateway.upstream.behave({ kind: "server_error" });
    expect(await raised(chat())).toMatchObject({ name: "InternalServerError", code: "upstream_error" });
  });

  test("upstream's own refusal of the request passes as upstream says it", async () => {
    gateway.upstream.behave({ kind: "bad_request" });
    expect(await raised(chat())).toMatchObject({
      name: "BadRequestError",
      status: 400,
      type: "invalid_request_error",
    });
  });

  test("no retry storm on what a retry cannot cure, and a retry on what it can", async () => {
    const seen = async () => Number((await redis.raw.hget("{test}:tenant:acme", "state"))?.split(" ")[5]);
    await zero();
    await raised(chat({}, { maxRetries: 3 }));
    expect(await seen()).toBe(1);
    gateway.upstream.reset();
    await gateway.ledger.adjust("account", "set", 1_000_000);
    gateway.upstream.behave({ kind: "server_error", times: 1 });
    const answer = await chat({}, { maxRetries: 2 });
    expect(answer.choices.length).toBe(1);
    expect(gateway.upstream.calls.length).toBe(2);
  });

  test("a store that does not answer: 503, and nothing goes upstream", async () => {
    await chat();
    await gateway.idle();
    const before = gateway.upstream.calls.length;
    redis.double.fault({ kind: "html_500", match: ([name = ""]) => name.toUpperCase() === "EVALSHA" });
    expect(await raised(chat())).toMatchObject({ status: 503, code: "store_unavailable" });
    redis.double.clearFaults();
    expect(gateway.upstream.calls.length).toBe(before);
  });
});

describe("anthropic", () => {
  test.each([
    ["no funds", zero, {}, 402, "billing_error"],
    ["a revoked token, at once", revoke, {}, 401, "authentication_error"],
    ["a frozen tenant", freeze, {}, 403, "permission_error"],
    ["an unknown model", nothing, { model: "nobody" }, 404, "not_found_error"],
    ["a bad limit", nothing, { max_tokens: 0 }, 400, "invalid_request_error"],
    ["no capacity", disable, {}, 429, "rate_limit_error"],
    ["an open breaker", breaker, {}, 503, "overloaded_error"],
  ] as const)("%s", async (_, arrange, more, status, type) => {
    await arrange();
    const error = await message(more).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect([error.status, error.error?.error?.type]).toEqual([status, type]);
  });
});

test.each([
  ["not JSON", "{", 400],
  ["an array", "[]", 400],
  ["nothing", "", 400],
  ["no model", "{}", 400],
])("a body that is %s", async (_, body, status) => {
  const reply = await gateway.post("/v1/chat/completions", body);
  expect([reply.status, await reply.json()]).toEqual([
    status,
    { error: expect.objectContaining({ code: "invalid_request" }) },
  ]);
});
