// The probe, as cron fires it: a credential that works again would stay out of service, or a dead one in it, if these failed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { readState } from "../../src/pools/state.ts";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, fire } from "../support/overdue.ts";
import { poolStateOf } from "../support/pool.ts";
import { keys } from "../support/redis.ts";
import { type More, many, SEALING, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const verbs = verbsOf(worker);
const { lease, release, allocate } = verbs;
useBooks(redis);
const { pool_key, journal_key } = keys.pool("openai", "default");

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(async () => {
  upstream.reset();
  await aWhileAgo(worker);
});

const probe = () => fire(worker, "probe");
const report = (more: object = {}) =>
  expect.objectContaining({ probed: 0, restored: 0, refused: 0, failed: 0, ...more });
const add = (key_id: string, more: More = {}) =>
  verbs.add(key_id, 4, { base_url: upstream.url, secret: { api_key: `sk-demo-${key_id}` }, ...more });
const state = async (key_id = "key_01") => readState((await redis.raw.hget(pool_key, key_id)) ?? "");
const seq = async () => poolStateOf(await redis.raw.hget(pool_key, "@pool")).seq;
const probes = async () =>
  entriesOf(await redis.raw.xrange(journal_key, "-", "+")).filter(({ actor }) => actor === "probe");
const setStatus = (key_id: string, verb: "enable" | "disable") =>
  admin("POST", `/credentials/openai/default/${key_id}/${verb}`);
const settings = (change: object) => admin("PATCH", "/pools/openai/default", change);

/** A credential that a call has just put out of service. */
async function benched(kind: string, more: More = {}) {
  await add("key_01");
  await release(await lease(), { outcome: { kind, ...more } });
}

describe("restores", () => {
  test("a pending one: it serves from now on; the next run leaves it alone for a day", async () => {
    await add("key_01", { status: "pending" });
    expect((await allocate()).body.reasons).toEqual({ pending: 1 });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(await state()).toMatchObject({ status: "available", verified_at_ms: redis.now_ms });
    expect((await lease()).credential).toEqual({ api_key: "sk-demo-key_01" });
    expect(await probes()).toMatchObject([{ kind: "status", actor: "probe", seq: "2" }]);
    expect(JSON.parse((await probes())[0]?.detail ?? "")).toMatchObject({
      change: "available",
      was: "pending",
      key_id: "key_01",
    });
    expect(await probe()).toEqual(report());
    const [call] = upstream.calls;
    expect(upstream.calls).toHaveLength(1);
    expect([call?.method, call?.path]).toEqual(["GET", "/v1/models"]);
    expect(call?.headers.authorization).toBe("Bearer sk-demo-key_01");
  });

  test("an auth_failed one, once upstream takes it again", async () => {
    await benched("auth_failed");
    upstream.behave({ kind: "auth_failed", times: 1 });
    expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
    expect([(await state()).status, await probes()]).toEqual(["auth_failed", []]); // it was so already
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    await lease();
  });

  test("in a pool whose recovery is probe: a bench that has passed, and none before", async () => {
    await benched("rate_limited", { retry_after: "5" });
    await settings({ recovery: "probe" });
    await redis.later(5_000);
    expect((await allocate()).body.reasons).toEqual({ rate_limited: 1 });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(await state()).toMatchObject({ status: "available", until_ms: 0, errors: 0 });
    await release(await lease(), { outcome: { kind: "rate_limited", retry_after: "1800" } });
    expect(await probe()).toEqual(report());
    expect((await state()).status).toBe("rate_limited");
  });

  test("in another pool no bench: it ends by itself", async () => {
    await benched("rate_limited", { retry_after: "5" });
    await redis.later(5_000);
    expect(await probe()).toEqual(report());
    expect(upstream.calls).toHaveLength(0);
  });

  test("in Anthropic's dialect where the provider speaks it", async () => {
    await add("key_01", { provider: "anthropic", status: "pending" });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(upstream.calls[0]?.headers).toMatchObject({
      "x-api-key": "sk-demo-key_01",
      "anthropic-version": "2023-06-01",
    });
  });
});

describe("one that serves, and that nobody has seen working for a day", () => {
  test("is seen to work: no entry, and the pool has not changed", async () => {
    await add("key_01");
    const before = await seq();
    expect(await probe()).toEqual(report({ probed: 1 }));
    expect((await state()).verified_at_ms).toBe(redis.now_ms);
    expect((await admin("GET", "/credentials/openai/default/key_01")).body.verified_at).toBe(
      new Date(redis.now_ms).toISOString(),
    );
    expect([await seq(), await probes()]).toEqual([before, []]);
  });

  test("is refused: out of service, with an entry, and the pool has changed", async () => {
    await add("key_01", { secret: { api_key: "sk-dead" } });
    const before = (await seq()) ?? 0;
    const held = await lease({ lease_seconds: 600 });
    expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
    expect(await state()).toMatchObject({ status: "auth_failed", until_ms: 0, in_flight: 1 });
    expect([await seq(), (await probes()).length]).toEqual([before + 1, 1]);
    expect((await allocate()).body.reasons).toEqual({ auth_failed: 1 });
    expect((await verbs.renew(held)).status).toBe(200);
  });
});

describe("leaves as it is", () => {
  test("a disabled one, whatever it was before", async () => {
    await add("key_01", { status: "pending" });
    await setStatus("key_01", "disable");
    expect(await probe()).toEqual(report());
    expect(upstream.calls).toHaveLength(0);
  });

  test("one that an operator disables while it is tried", async () => {
    await add("key_01", { status: "pending" });
    upstream.behave({ delay_ms: 400 });
    const running = probe();
    await expect.poll(() => upstream.calls.length, { timeout: 5_000 }).toBe(1);
    await setStatus("key_01", "disable");
    expect(await running).toEqual(report({ probed: 1 }));
    expect([(await state()).status, await probes()]).toEqual(["disabled", []]);
  });

  test("one whose secret is replaced while it is tried: the answer was the old one's", async () => {
    await add("key_01", { status: "pending" });
    upstream.behave({ delay_ms: 400, times: 1 });
    const running = probe();
    await expect.poll(() => upstream.calls.length, { timeout: 5_000 }).toBe(1);
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
      upstream.behave({ match: { api_key: `sk-demo-key_${i}` }, ...fault });
    }
    await add("nobody", { status: "pending", base_url: "http://127.0.0.1:9" });
    await add("nowhere", { status: "pending", base_url: undefined });
    await add("serving", { base_url: undefined }); // nobody waits for that one
    expect(await probe()).toEqual(report({ probed: 6, failed: 7 }));
    for (const id of ["key_0", "key_4", "nobody", "nowhere"])
      expect((await state(id)).status, id).toBe("pending");
    expect(upstream.calls.filter(({ path }) => path !== "/v1/models")).toEqual([]);
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
  const more = { models: ["*"], max_concurrent_uses: 1, base_url: upstream.url };
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
  upstream.behave({
    status: 401,
    body: JSON.stringify({ error: { message: `Incorrect API key: ${PLANTED}` } }),
    times: 1,
  });
  upstream.behave({ status: 500, body: `the key ${PLANTED} broke it`, times: 1 });
  expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
  expect(await probe()).toEqual(report({ probed: 1, failed: 1 }));
  expect(JSON.stringify(worker.logs())).not.toContain("planted");
  expect(JSON.stringify(await redis.raw.xrange(journal_key, "-", "+"))).not.toContain("planted");
});
