// What upstream says of a credential, through the gateway: a healthy one benched, or an ill one asked again and again, if these
// failed.
import { describe, expect, test } from "vitest";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway();
const { admin, redis, deploy } = gateway.worker;
const ask = (more: object = {}) =>
  gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO, max_tokens: 20, ...more });
const view = async (key_id = "key_01") => (await admin("GET", `/credentials/demo/default/${key_id}`)).body;
const inMs = async () => Date.parse((await view()).until) - redis.now_ms;
const set = (change: object) => admin("PATCH", "/pools/demo/default", change);

describe("case B14: Retry-After as upstream writes it", () => {
  test.each([
    ["120", 120_000],
    ["0", 1_000],
    ["1.5", 1_500],
    ["-5", 60_000],
    ["", 60_000],
    ["soon", 60_000],
    ["9999999999", 1_800_000],
  ])("%j benches for %d ms", async (retry_after, ms) => {
    gateway.upstream.behave({ kind: "rate_limited", retry_after, times: 1 });
    expect((await ask()).status).toBe(429);
    expect([(await view()).status, await inMs()]).toEqual(["rate_limited", ms]);
  });

  test("on a 503 it is honoured too", async () => {
    gateway.upstream.behave({ kind: "unavailable", retry_after: "7", times: 1 });
    await ask();
    expect([(await view()).status, await inMs()]).toEqual(["cooling", 7_000]);
  });
});

test("cases B16, B17: until the deadline nobody is asked, and the caller learns when; at the deadline it serves", async () => {
  gateway.upstream.behave({ kind: "rate_limited", retry_after: "5", times: 1 });
  await ask();
  await redis.later(4_999);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(gateway.upstream.calls.length).toBe(1);
  await redis.later(1);
  expect((await ask()).status).toBe(200);
});

test("case B18: disabled while a call runs: the call goes on and is charged, and it stays disabled", async () => {
  gateway.upstream.behave({ delay_ms: 20, output_tokens: 15, times: 1 });
  const running = ask({ stream: true });
  await expect.poll(() => gateway.upstream.calls.length).toBe(1);
  await admin("POST", "/credentials/demo/default/key_01/disable");
  expect(await (await running).text()).toContain("[DONE]");
  expect((await gateway.ends(1))[0]?.detail.note.ended).toBe("whole");
  await redis.later(3_600_000);
  expect([(await view()).status, (await ask()).status]).toEqual(["disabled", 429]);
});

describe("cases B19, B20: the breaker", () => {
  const trip = async () => {
    await set({ breaker: { failures: 2, open_ms: 10_000 }, cooldowns: { errors_from: 100 } });
    gateway.upstream.behave({ kind: "server_error", times: 2 });
    for (let i = 0; i < 2; i++) await ask();
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(gateway.upstream.calls.length).toBe(2);
  };

  test("open: nothing is sent or held; half-open: a probe decides, and its unit comes back", async () => {
    await trip();
    await redis.later(10_000);
    gateway.upstream.behave({ kind: "bad_request", times: 1 });
    expect((await ask()).status).toBe(400); // says nothing of upstream: the next may try
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(200);
  });

  test("a deploy changes nothing of it", async () => {
    await trip();
    await deploy({});
    expect((await ask()).status).toBe(503);
  });
});

test("case A7: heartbeats renew while bytes flow; a caller who reads nothing has its term and no more", async () => {
  const call = {
    call_id: "k1",
    tenant: "acme",
    sub_account: "alice",
    provider: "demo",
    model: "demo-chat",
    amount: 9,
  };
  const on = { tenant: "acme", provider: "demo", pool: "default", key_id: "key_01" };
  const { internal } = gateway.worker;
  await internal("/calls/admit", { ...call, lease_seconds: 35 });
  for (let i = 0; i < 3; i++) {
    await redis.later(30_000);
    expect((await internal("/calls/k1/renew", { ...on, lease_seconds: 35 })).status).toBe(200);
  }
  await redis.later(35_000);
  expect((await internal("/calls/k1/renew", { ...on, lease_seconds: 35 })).body.reason).toBe("expired");
  await internal("/calls/k1/finish", { ...on, amount: 9 });
  await gateway.worker.call("GET", "/cdn-cgi/local/scheduled?cron=*+*+*+*+*", {});
});

test("case C30: names that mean one model are one in the books; another case or a date is another name", async () => {
  await gateway.price("demo-chat", { aliases: ["chat"] });
  for (const model of ["demo-chat", " demo-chat ", "chat", "demo/demo-chat", "demo/chat"])
    expect([model, (await ask({ model })).status]).toEqual([model, 200]);
  for (const model of ["Demo-Chat", "demo-chat-2024-11-20", "nobody/demo-chat"])
    expect([model, (await ask({ model })).status]).toEqual([model, 404]);
  const ends = await gateway.ends(5);
  expect(new Set(ends.map(({ detail }) => detail.items[0][0]))).toEqual(new Set(["demo-chat"]));
});
