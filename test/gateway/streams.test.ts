// Streams that end badly: a caller charged for nothing, or nobody charged for what was delivered, if these failed.
import { expect, test } from "vitest";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway({ UPSTREAM_IDLE_MS: "700" });
const { admin, internal } = gateway.worker;
const ask = (more: object = {}, signal?: AbortSignal) =>
  gateway.post(
    "/v1/chat/completions",
    { model: "demo-chat", messages: HELLO, max_tokens: 500, stream: true, ...more },
    {},
    signal,
  );

/** Reads a stream until so much has come, and leaves. */
async function leave(pieces: number, more: object = {}) {
  const leaving = new AbortController();
  const reader = (await ask(more, leaving.signal)).body?.getReader();
  for (let i = 0; i < pieces; i++) await reader?.read();
  leaving.abort();
}
const note = async () => (await gateway.ends(1))[0]?.detail.note;

test("case E45 (a): the caller leaves after some text: what was delivered is charged, by the estimate", async () => {
  gateway.upstream.behave({ delay_ms: 20, output_tokens: 400 });
  await leave(6);
  const [end] = await gateway.ends(1);
  expect(end?.kind).toBe("settle");
  expect(end?.detail.note).toMatchObject({ estimated: true, ended: "caller_left" });
  expect(Number(end?.amount)).toBeGreaterThan(0);
  expect(Number(end?.amount)).toBeLessThan(end?.detail.held);
});

test("case E45 (c): upstream stalls after some text: the caller is told, what came is charged", async () => {
  gateway.upstream.behave({ kind: "stall", after: 4, times: 1 });
  expect(await (await ask()).text()).toMatch(/"error":\{"message"/);
  expect(await note()).toMatchObject({ estimated: true, ended: "idle" });
  expect(gateway.upstream.calls.length).toBe(1);
});

test("case E45 (c): upstream is reset after some text: what came is charged, and no other credential is tried", async () => {
  await gateway.addKey("key_02");
  gateway.upstream.behave({ kind: "reset_midstream", after: 4, times: 1 });
  await (await ask()).text();
  expect(await note()).toMatchObject({ estimated: true });
  expect(gateway.upstream.calls.length).toBe(1);
});

test("case E45 (c): a stream that ends early, but properly, is charged by the estimate", async () => {
  gateway.upstream.behave({ kind: "cut", after: 4, times: 1 });
  await (await ask()).text();
  expect(await note()).toMatchObject({ estimated: true });
});

test("case E45: an error event after some text reaches the caller, and what came is charged", async () => {
  gateway.upstream.behave({ kind: "error_event", after: 4, times: 1 });
  expect(await (await ask()).text()).toContain('"error"');
  expect(await note()).toMatchObject({ estimated: true, ended: "upstream_error" });
});

test.each(["no_choices", "empty_delta", "cumulative", "null", "none", "rejected"] as const)(
  "case E46: usage said as %s: billed, and shown only to who asked",
  async (usage) => {
    gateway.upstream.behave({ usage });
    const unasked = await (await ask()).text();
    expect(unasked).toContain("data: [DONE]");
    if (usage === "no_choices") expect(unasked).not.toContain('"usage":{');
    const [end] = await gateway.ends(1);
    expect(end?.detail.note.estimated).toBe(["null", "none", "rejected"].includes(usage));
    expect(Number(end?.amount)).toBeGreaterThan(0);
    expect((await admin("GET", "/credentials/demo/default/key_01")).body.status).toBe("available");
  },
);

test("case E47: the same bytes as upstream's own, in any script and of any size", async () => {
  const behave = { text: "unicode", large_event_bytes: 5_000_000, output_tokens: 30 } as const;
  const body = { messages: HELLO, max_tokens: 500, stream: true, stream_options: { include_usage: true } };
  const plain = (text: string) => text.replace(/"(id|created)":("[^"]*"|\d+)/g, "");
  gateway.upstream.behave({ ...behave, times: 2 });
  const direct = await fetch(`${gateway.upstream.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-demo-key_01", "content-type": "application/json" },
    body: JSON.stringify({ model: "demo-chat-1", ...body }),
  });
  const through = await ask({ stream_options: { include_usage: true } });
  const [one, other] = [plain(await direct.text()), plain(await through.text())];
  expect(other.length).toBe(one.length);
  expect(other === one).toBe(true);
  expect(await note()).toMatchObject({ estimated: false, ended: "whole" });
});

test("a growing stream holds its first step, grows, and ends with an error when funds do not allow more", async () => {
  await gateway.price("demo-chat", { max_output_tokens: 50_000 });
  gateway.upstream.behave({ output_tokens: 4_000 });
  await (await ask({ max_tokens: 8_000 })).text();
  const [first] = await gateway.ends(1);
  expect(first?.detail.held).toBeGreaterThan(8_000 * 10);
  await gateway.ledger.adjust("account", "set", 4_096 * 10 + 1_000);
  gateway.upstream.behave({ output_tokens: 8_000 });
  const text = await (await ask({ max_tokens: 8_000 })).text();
  expect(text).toContain("insufficient_quota");
  const ends = await gateway.ends(2);
  expect(ends[1]?.detail.note).toMatchObject({ ended: "funds", estimated: true });
});

test("stream_hold full: all of it is held at once", async () => {
  await admin("PATCH", "/tenants/acme", { stream_hold: "full" });
  await (await ask({ max_tokens: 8_000 })).text();
  expect((await gateway.ends(1))[0]?.detail.held).toBeGreaterThanOrEqual(8_000 * 10);
});

test("case A7: a lease that is revoked in mid-stream: the stream ends, and is charged", async () => {
  await gateway.price("demo-chat", { max_output_tokens: 50_000 });
  gateway.upstream.behave({ output_tokens: 8_000, delay_ms: 1 });
  const reply = await ask({ max_tokens: 8_000 });
  const reader = reply.body?.getReader();
  await reader?.read();
  await admin("DELETE", "/credentials/demo/default/key_01/leases");
  let text = "";
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
    text += new TextDecoder().decode(piece.value);
  expect(text).toContain("not leased any more");
  expect(await note()).toMatchObject({ ended: "lease_lost" });
});

test("case E49: a Worker that dies leaves a call that ends by its own deadline, with what had accrued charged", async () => {
  const call = { call_id: "k1", tenant: "acme", sub_account: "alice", provider: "demo", model: "demo-chat" };
  await internal("/calls/admit", { ...call, amount: 1_000, lease_seconds: 30, ttl_seconds: 30 });
  const on = { tenant: "acme", provider: "demo", pool: "default", key_id: "key_01" };
  await internal("/calls/k1/renew", { ...on, lease_seconds: 30, accrued: 77 });
  await gateway.worker.redis.later(31_000);
  await gateway.worker.call("GET", "/cdn-cgi/local/scheduled?cron=*+*+*+*+*", {});
  const held = await gateway.worker.call("GET", "/api/internal/holds/k1?tenant=acme", {
    "x-internal-key": "test-internal-key",
  });
  expect([held.status, held.body.charged]).toEqual([200, held.body.state === "expired" ? 77 : 0]);
  await internal("/calls/k1/finish", { ...on, amount: 77 });
});
