// Before the first byte a call moves on: a caller who sees an error that another credential would not have had, or pays for it,
// if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway({ UPSTREAM_FIRST_BYTE_MS: "700", UPSTREAM_IDLE_MS: "700" });
const { admin } = gateway.worker;
const ask = (more: object = {}) =>
  gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO, max_tokens: 20, ...more });
const status = async (key_id: string) =>
  (await admin("GET", `/credentials/demo/default/${key_id}`)).body.status;
const attempts = async () => {
  const [end] = await gateway.ends(1);
  return end?.detail.note.attempts.map(({ status, outcome }: { status: number; outcome: string }) => [
    status,
    outcome,
  ]);
};

describe("case E48: the first attempt fails, another credential serves: one charge, two attempts", () => {
  beforeEach(() => gateway.addKey("key_02"));

  test.each([
    ["a 500", { kind: "server_error" }, [500, "upstream_error"]],
    ["an overload", { kind: "overloaded" }, [529, "upstream_error"]],
    ["a rate limit", { kind: "rate_limited", retry_after: "2" }, [429, "rate_limited"]],
    ["a spent account", { kind: "insufficient_quota" }, [429, "exhausted"]],
    ["a refused key", { kind: "auth_failed" }, [401, "auth_failed"]],
    ["a reset", { kind: "reset" }, [expect.toBeOneOf([0, 500]), "upstream_error"]], // 500: the harness' own proxy
    ["silence", { kind: "hang" }, [0, "upstream_error"]],
    ["an error in a 200", { kind: "error_body" }, [200, "upstream_error"]],
  ] as const)("%s", async (_, behave, first) => {
    gateway.upstream.behave({ ...behave, times: 1 });
    expect((await ask()).status).toBe(200);
    expect(await attempts()).toEqual([first, [200, "success"]]);
    expect((await gateway.ends(1))[0]?.kind).toBe("settle");
  });

  test("an error event before any text", async () => {
    gateway.upstream.behave({ kind: "error_event", after: 0, times: 1 });
    const reply = await ask({ stream: true });
    expect(await reply.text()).toContain("[DONE]");
    expect((await attempts())?.at(-1)).toEqual([200, "success"]);
  });

  test("all fail: the last status, nothing charged", async () => {
    gateway.upstream.behave({ kind: "server_error" });
    const reply = await ask();
    expect([reply.status, (await reply.json()) as object]).toEqual([
      500,
      { error: expect.objectContaining({ type: "server_error", code: "upstream_error" }) },
    ]);
    expect(await gateway.account()).toMatchObject({ spent: 0, held: 0 });
    expect(gateway.upstream.calls.length).toBe(2);
  });
});

test("five attempts at most", async () => {
  for (let i = 2; i < 9; i++) await gateway.addKey(`key_0${i}`);
  gateway.upstream.behave({ kind: "server_error" });
  expect((await ask()).status).toBe(500);
  expect(gateway.upstream.calls.length).toBe(5);
});

test("case B11: the caller's own fault benches nobody, and is not tried twice", async () => {
  await gateway.addKey("key_02");
  gateway.upstream.behave({ kind: "bad_request" });
  const reply = await ask();
  expect(reply.status).toBe(400);
  expect([await status("key_01"), await status("key_02")]).toEqual(["available", "available"]);
  expect(gateway.upstream.calls.length).toBe(1);
  expect((await gateway.ends(1))[0]?.kind).toBe("void");
});

test("cases B12, B13: a credential whose own money is spent is benched for long after one hit", async () => {
  await gateway.addKey("key_02");
  gateway.upstream.behave({ kind: "insufficient_quota", times: 1 });
  await ask();
  const benched = [await status("key_01"), await status("key_02")].filter((one) => one === "exhausted");
  expect(benched.length).toBe(1);
});

test("the next route: no capacity in the first, a failing upstream, no such model there", async () => {
  await admin("POST", "/credentials", {
    ...{ key_id: "other_01", provider: "other", kind: "api_key", secret: { api_key: "sk-demo-other" } },
    ...{ models: { big: "demo-chat-1" }, base_url: gateway.upstream.url, max_concurrent_uses: 4 },
  });
  const rates = { input: 1_000_000, cached_input: 1_000_000, output: 1_000_000, per_request: 0 };
  await admin("POST", "/prices", { provider: "other", model: "big", ...rates });
  const routes = [
    { provider: "demo", provider_model: "demo-chat" },
    { provider: "other", provider_model: "big" },
  ];
  await admin("PUT", "/models/smart", { routes });
  await admin("POST", "/credentials/demo/default/key_01/disable");
  expect((await ask({ model: "smart" })).status).toBe(200);
  await admin("POST", "/credentials/demo/default/key_01/enable");
  gateway.upstream.behave({ kind: "not_found", times: 1 });
  expect((await ask({ model: "smart" })).status).toBe(200);
  const ends = await gateway.ends(2);
  expect(ends.map(({ detail }) => [detail.home, detail.note.model])).toEqual([
    ["other:default", "smart"],
    ["other:default", "smart"],
  ]);
});

test("capacity is waited for as long as the caller says", async () => {
  await gateway.addKey("key_01", { max_concurrent_uses: 1 });
  gateway.upstream.behave({ delay_ms: 30, output_tokens: 10, times: 1 });
  const first = ask({ stream: true });
  await expect.poll(() => gateway.upstream.calls.length).toBe(1);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  const waiting = gateway.post(
    "/v1/chat/completions",
    { model: "demo-chat", messages: HELLO, max_tokens: 5 },
    { "x-qm-wait-ms": "10000" },
  );
  await (await first).text();
  expect((await waiting).status).toBe(200);
});

test("case A3: after each failing path the only unit is free again", async () => {
  await gateway.addKey("key_01", { max_concurrent_uses: 1 });
  const failing: [object, object?][] = [
    [{ model: "nobody" }],
    [{ max_tokens: -1 }],
    [{}, { kind: "hang", times: 1 }],
    [{}, { kind: "reset", times: 1 }],
    [{ stream: true }, { kind: "reset_midstream", after: 2, times: 1 }],
    [{ stream: true }, { kind: "stall", after: 2, times: 1 }],
  ];
  await admin("PATCH", "/pools/demo/default", {
    breaker: { mode: "closed" },
    cooldowns: { errors_from: 100 },
  });
  for (const [body, behave] of failing) {
    if (behave) gateway.upstream.behave(behave);
    await (await ask(body)).text().catch(() => "cut");
    await gateway.idle();
    expect((await ask()).status).toBe(200);
    await gateway.idle();
  }
});
