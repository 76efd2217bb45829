// How a lease goes on and ends: who would lose a place they hold, or keep one they lost, if these failed.
import { describe, expect, test } from "vitest";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { allocate as script } from "../../src/scripts/lease/allocate.ts";
import { poolOf } from "../support/pool.ts";
import { keys } from "../support/redis.ts";
import { INTERNAL_KEY, inFlight, many, units, useWorker, verbsOf } from "../support/worker.ts";

/** Snapshots stay fresh for the whole file, so that counts of commands hold no refresh. */
const worker = useWorker({ SNAPSHOT_FRESH_MS: "600000" });
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis } = worker;

describe("renewing", () => {
  test("case A4: a lease whose place went to another is lost, and the other one keeps it", async () => {
    await add("key_01", 1);
    const first = await lease({ lease_seconds: 1 });
    await redis.later(1000);
    const second = await lease();
    const lost = await renew(first);
    expect([lost.status, lost.body]).toMatchObject([409, { code: "lease_lost", reason: "expired" }]);
    expect((await renew(second)).status).toBe(200);
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("case A4: reclaim and renew at the same moment, a millisecond before the end and at it", async () => {
    await add("key_01", 1);
    let held = await lease({ lease_seconds: 1 });
    for (let round = 0; round < 10; round++) {
      await redis.later(999);
      const [before, ...refused] = await Promise.all([
        renew(held, { lease_seconds: 1 }),
        allocate(),
        allocate(),
      ]);
      expect([before.status, ...refused.map(({ status }) => status)]).toEqual([200, 429, 429]);
      await redis.later(1000);
      const [at, ...asked] = await Promise.all([
        renew(held),
        allocate({ lease_seconds: 1 }),
        allocate({ lease_seconds: 1 }),
      ]);
      expect([at.status, ...asked.map(({ status }) => status).sort()]).toEqual([409, 200, 429]);
      held = asked.find(({ status }) => status === 200)?.body;
      expect(await inFlight(redis)).toEqual(units(1));
    }
  });
});

describe("whose clock counts", () => {
  const skewed = (by_ms: number) => {
    const date = new Date(redis.now_ms + by_ms);
    return {
      "x-internal-key": INTERNAL_KEY,
      date: date.toUTCString(),
      "x-timestamp": String(date.getTime()),
    };
  };

  test("case A6: callers 90 s ahead and 90 s behind are refused, and told the same time to come back", async () => {
    await add("key_01");
    const held = await lease();
    for (const by_ms of [90_000, -90_000, 10 ** 10]) {
      const ask = { provider: "openai", model: "gpt-4o" };
      const refused = await worker.call("POST", "/api/internal/allocate-key", skewed(by_ms), ask);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "35"]);
      const path = `/api/internal/leases/${held.lease_id}/renew`;
      const { key_id, provider, pool } = held;
      const renewed = await worker.call("POST", path, skewed(by_ms), {
        key_id,
        provider,
        pool,
        lease_seconds: 35,
      });
      expect(renewed.body.expires_at).toBe(held.expires_at);
    }
  });

  test("case A6: a Retry-After date counts from the Date of the reply it came with", async () => {
    await add("key_01");
    const upstream = redis.now_ms + 90_000;
    const outcome = {
      kind: "rate_limited",
      retry_after: new Date(upstream + 20_000).toUTCString(),
      date: new Date(upstream).toUTCString(),
    };
    await release(await lease(), { outcome });
    expect((await allocate()).headers.get("retry-after")).toBe("20");
  });
});

describe("what a crash leaves behind", () => {
  /** Scripts straight on redis: 10,000 requests would prove nothing more, and take longer. */
  const direct: Evaluator = {
    dialect: "redis",
    evalsha: (sha, names, args) => redis.raw.evalsha(sha, names.length, ...names, ...args),
    eval: (source, names, args) => redis.raw.eval(source, names.length, ...names, ...args),
  };
  const crowd = async (key_id: string, n: number) => {
    await redis.raw.script("LOAD", script.text.redis.source);
    const pool = poolOf(() => direct);
    await many(n, (i) => pool.allocate(`crashed-${i}`, [key_id], 1));
    await redis.later(90_000);
  };
  /** Commands that scripts and plain reads ran since the last look, without those of the double itself. */
  const commands = async () => {
    const stats = await redis.raw.info("commandstats");
    await redis.raw.config("RESETSTAT");
    const own = /^cmdstat_(zrange|zrem|zadd|zscore|hmget|hset|hget|hgetall|hrandfield|set|del|time)$/;
    const calls = stats.split("\r\n").map((line) => line.split(/:calls=|,/));
    return calls.reduce((sum, [name = "", n]) => sum + (own.test(name) ? Number(n) : 0), 0);
  };

  test("case A9: 10,000 expired leases of a credential cost an allocate no more than a few do", async () => {
    await add("big", 10_000);
    await release(await lease()); // the isolate knows the pool
    await crowd("big", 10_000);
    await commands();
    redis.double.requests = 0;
    expect(await lease()).toMatchObject({ key_id: "big" });
    expect(redis.double.requests).toBe(1);
    expect(await commands()).toBeLessThanOrEqual(10);
    expect(await inFlight(redis)).toEqual(units(10_000 - 64 + 1));
  });

  test("case A9: an own place behind 10,000 of others is found in bounded steps, and no key stays", async () => {
    await add("big", 10_000);
    await add("small", 1, { models: { own: "own" } });
    await lease({ model: "own", lease_seconds: 60 });
    await crowd("big", 10_000);
    let answer = await allocate({ model: "own" });
    for (let calls = 1; answer.status !== 200; calls++) {
      expect(calls).toBeLessThanOrEqual(10_000 / (4 * 64) + 1);
      expect([answer.body.code, answer.headers.get("retry-after")]).toEqual(["no_capacity", "1"]);
      await commands();
      answer = await allocate({ model: "own" });
      expect(await commands()).toBeLessThanOrEqual(2 * 4 * 8);
    }
    expect(await inFlight(redis)).toEqual(units(1));
    await release(answer.body);
    await redis.later(3_600_000 + 120_000);
    expect(await redis.raw.keys("*:lease:*")).toEqual([]);
    expect(await redis.raw.exists(keys.pool("openai", "default").leases_key)).toBe(0);
  });
});

test("case A10: a deploy and a restart of the Worker change no lease", async () => {
  await add("key_01", 2);
  const [first, second] = [await lease({ op_id: "op-1", lease_seconds: 20 }), await lease()];
  for (const vars of [{}, { REDIS_TIMEOUT_MS: "1500" }]) {
    await worker.deploy(vars);
    expect((await allocate()).body).toMatchObject({ code: "no_capacity", retry_after_seconds: 20 });
    expect(await lease({ op_id: "op-1", lease_seconds: 20 })).toEqual(first);
    expect((await renew(second, { lease_seconds: 90 })).status).toBe(200);
  }
  expect(await inFlight(redis)).toEqual(units(2));
  expect((await release(first)).body).toEqual({ released: true });
  expect((await release(second)).body).toEqual({ released: true });
  expect(await inFlight(redis)).toEqual(units(0));
});
