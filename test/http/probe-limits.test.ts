// What the probe leaves alone: a credential that an operator has disabled comes back, or a run that never ends, if these failed.
import { describe, expect, test } from "vitest";
import { keys } from "../support/redis.ts";
import { type More, many, SEALING } from "../support/worker.ts";
import { useProbe } from "./probe-kit.ts";

const kit = useProbe();
const { worker, redis, admin, journal_key, probe, report, add, state, probes, setStatus } = kit;

describe("leaves as it is", () => {
  test("a disabled one, whatever it was before", async () => {
    await add("key_01", { status: "pending" });
    await setStatus("key_01", "disable");
    expect(await probe()).toEqual(report());
    expect(kit.upstream.calls).toHaveLength(0);
  });

  test("one that an operator disables while it is tried", async () => {
    await add("key_01", { status: "pending" });
    kit.upstream.behave({ delay_ms: 400 });
    const running = probe();
    await expect.poll(() => kit.upstream.calls.length, { timeout: 5_000 }).toBe(1);
    await setStatus("key_01", "disable");
    expect(await running).toEqual(report({ probed: 1 }));
    expect([(await state()).status, await probes()]).toEqual(["disabled", []]);
  });

  test("one whose secret is replaced while it is tried: the answer was the old one's", async () => {
    await add("key_01", { status: "pending" });
    kit.upstream.behave({ delay_ms: 400, times: 1 });
    const running = probe();
    await expect.poll(() => kit.upstream.calls.length, { timeout: 5_000 }).toBe(1);
    await admin("PATCH", "/credentials/openai/default/key_01", { secret: { api_key: "sk-dead" } });
    expect(await running).toEqual(report({ probed: 1 }));
    expect((await state()).status).toBe("pending");
    expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
  });

  test("what upstream does not answer: 500, 429, 403, a reset, silence, nobody there, no base_url", async () => {
    const faults = [
      { kind: "server_error" },
      { kind: "rate_limited" },
      { status: 403, body: "no" },
      { kind: "reset" },
      { kind: "hang" },
    ] as const;
    for (const [i, fault] of faults.entries()) {
      await add(`key_${i}`, { status: "pending" });
      kit.upstream.behave({ match: { api_key: `sk-demo-key_${i}` }, ...fault });
    }
    await add("nobody", { status: "pending", base_url: "http://127.0.0.1:9" });
    await add("nowhere", { status: "pending", base_url: undefined });
    await add("serving", { base_url: undefined }); // nobody waits for that one
    expect(await probe()).toEqual(report({ probed: 6, failed: 7 }));
    for (const id of ["key_0", "key_4", "nobody", "nowhere"])
      expect((await state(id)).status, id).toBe("pending");
    expect(kit.upstream.calls.filter(({ path }) => path !== "/v1/models")).toEqual([]);
  });

  test("a secret that does not open", async () => {
    await add("key_01", { status: "pending" });
    await worker.deploy({ SEALING_KEYS: SEALING.new });
    expect(await probe()).toEqual(report({ probed: 1, failed: 1 }));
    await worker.deploy({});
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
  });

  test("an OAuth credential whose token is over: a refusal would say nothing", async () => {
    const expires_at = new Date(redis.now_ms).toISOString();
    const oauth = { kind: "oauth", secret: { access_token: "sk-demo-at", expires_at } };
    await add("key_01", { ...oauth, status: "pending" });
    expect(await probe()).toEqual(report());
  });
});

test("more than 20: the others have their turn in the next run, and who waits goes before who is only stale", async () => {
  const posted = (key_id: string, more: More) => ({
    key_id,
    provider: "openai",
    kind: "api_key",
    secret: { api_key: `sk-demo-${key_id}` },
    ...more,
  });
  const more = { models: ["*"], max_concurrent_uses: 1, base_url: kit.upstream.url };
  const waiting = Array.from({ length: 25 }, (_, i) => posted(`w${i}`, { ...more, status: "pending" }));
  const stale = Array.from({ length: 10 }, (_, i) => posted(`s${i}`, { ...more, pool: "vip" }));
  await admin("POST", "/credentials", { credentials: [...waiting, ...stale] });
  expect(await probe()).toEqual(report({ probed: 20, restored: 15 }));
  expect(await probe()).toEqual(report({ probed: 15, restored: 10 }));
  expect(await probe()).toEqual(report());
});

test("two runs at once do no harm", async () => {
  await add("key_01", { status: "pending" });
  await many(2, probe);
  expect((await state()).status).toBe("available");
  expect(await probes()).toHaveLength(1);
});

test("a pool that cannot be read is said to have failed, and stops no other", async () => {
  await add("key_01", { status: "pending" });
  await add("bad", { provider: "other", pool: "p", status: "pending" });
  const other = keys.pool("other", "p");
  const text = (await redis.raw.hget(other.pool_key, "bad")) ?? "";
  await redis.raw.hset(other.pool_key, "bad", "9 PLANTED");
  expect(await probe()).toEqual(report({ probed: 1, restored: 1, failed: 1 }));
  await redis.raw.hset(other.pool_key, "bad", text);
  expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
});

test("a secret that upstream repeats is in no log line and no entry", async () => {
  const PLANTED = "sk-demo-planted-4242424242424242";
  await add("key_01", { secret: { api_key: PLANTED }, status: "pending" });
  worker.clearLogs();
  kit.upstream.behave({
    status: 401,
    body: JSON.stringify({ error: { message: `Incorrect API key: ${PLANTED}` } }),
    times: 1,
  });
  kit.upstream.behave({ status: 500, body: `the key ${PLANTED} broke it`, times: 1 });
  expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
  expect(await probe()).toEqual(report({ probed: 1, failed: 1 }));
  expect(JSON.stringify(worker.logs())).not.toContain("planted");
  expect(JSON.stringify(await redis.raw.xrange(journal_key, "-", "+"))).not.toContain("planted");
});
