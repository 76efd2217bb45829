// Capacity is never exceeded and never lost: what would be oversold, or be unusable, if these failed.
import { describe, expect, test } from "vitest";
import { type Answer, inFlight, many, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis } = worker;

const byStatus = (answers: Answer[]) => Object.groupBy(answers, ({ status }) => String(status));

test("a lease from its first request to its last", async () => {
  const put = await add("key_01", 1, { base_url: "https://api.example.com/v1" });
  expect([put.status, put.body]).toEqual([201, { key_id: "key_01", result: "created" }]);

  const answer = await allocate({ holder: "worker-7" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.body).toEqual({
    key_id: "key_01",
    lease_id: expect.stringMatching(/^lse_[\w-]{24}$/),
    provider: "openai",
    pool: "default",
    fallback: false,
    provider_model: "gpt-4o-2024-11-20",
    credential: { api_key: "sk-key_01" },
    base_url: "https://api.example.com/v1",
    fence: expect.any(Number),
    expires_at: new Date(redis.now_ms + 35_000).toISOString(),
    expires_in_seconds: 35,
    renewable: true,
    max_expires_at: new Date(redis.now_ms + 3_600_000).toISOString(),
  });

  const renewed = await renew(answer.body, { lease_seconds: 60 });
  expect([renewed.status, renewed.body]).toMatchObject([
    200,
    { expires_in_seconds: 60, lease_id: answer.body.lease_id },
  ]);

  const released = await release(answer.body, {
    outcome: { kind: "success", http_status: 200, latency_ms: 12 },
  });
  expect([released.status, released.body]).toEqual([200, { released: true }]);
  const again = await release(answer.body);
  expect([again.status, again.body]).toEqual([200, { released: false, reason: "released" }]);
});

describe("a cap", () => {
  test("64 at once on a cap of 1: one is served, the others are told why and when", async () => {
    await add("key_01", 1);
    const { 200: served = [], 429: refused = [] } = byStatus(await many(64, () => allocate()));
    expect([served.length, refused.length]).toEqual([1, 63]);
    for (const { headers, body } of refused) {
      expect(body).toMatchObject({ code: "no_capacity", reasons: { full: 1 }, retry_after_seconds: 35 });
      expect(headers.get("retry-after")).toBe("35");
    }
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("a cap of 2: two in flight, and a release is usable by the very next caller", async () => {
    await add("key_01", 2);
    const [first] = [await lease(), await lease()];
    expect((await allocate()).status).toBe(429);
    expect(await inFlight(redis)).toEqual(units(2));
    expect((await release(first)).body).toEqual({ released: true });
    await lease();
    expect((await allocate()).status).toBe(429);
    expect(await inFlight(redis)).toEqual(units(2));
  });

  test("fences only grow, so upstream can tell an old holder from a new one", async () => {
    await add("key_01", 1);
    const fences: number[] = [];
    for (let i = 0; i < 5; i++) {
      const held = await lease();
      fences.push(held.fence);
      await release(held);
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  test("Retry-After is the earliest moment at which anything is due back", async () => {
    await add("key_01", 1);
    await add("key_02", 1);
    await add("key_03", 1);
    const held = [
      await lease({ lease_seconds: 90 }),
      await lease({ lease_seconds: 90 }),
      await lease({ lease_seconds: 90 }),
    ];
    await release(held[0], { outcome: { kind: "rate_limited", http_status: 429, retry_after: "20" } });
    await release(held[1], { outcome: { kind: "auth_failed", http_status: 401 } });
    const refused = await allocate();
    expect(refused.body).toMatchObject({
      reasons: { full: 1, rate_limited: 1, auth_failed: 1 },
      retry_after_seconds: 20,
    });
    await redis.later(19_500);
    expect((await allocate()).headers.get("retry-after")).toBe("1"); // rounded up: never too early
    await redis.later(500);
    expect(await lease()).toMatchObject({ key_id: held[0].key_id });
    expect((await allocate()).headers.get("retry-after")).toBe("35");
  });

  test("an expired lease gives its place back at its end, not a millisecond before", async () => {
    await add("key_01", 1);
    const first = await lease({ lease_seconds: 1 });
    await redis.later(999);
    expect((await allocate()).status).toBe(429);
    await redis.later(1);
    const second = await lease();
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("case A1: the late release of an expired lease frees nothing of the one that came after", async () => {
    await add("key_01", 1);
    const first = await lease({ lease_seconds: 1 });
    await redis.later(1100);
    await lease();
    expect((await release(first)).body).toEqual({ released: false, reason: "expired" });
    expect(await inFlight(redis)).toEqual(units(1));
    expect((await allocate()).body.code).toBe("no_capacity");
  });

  test("case A2: three releases of one lease, in turn or at once, free one place", async () => {
    await add("key_01", 2);
    const first = await lease();
    const answers = [await release(first), await release(first), await release(first)];
    expect(answers.map(({ body }) => body.released)).toEqual([true, false, false]);
    const second = await lease();
    const parallel = await many(3, () => release(second));
    expect(parallel.filter(({ body }) => body.released)).toHaveLength(1);
    expect(parallel.filter(({ body }) => body.reason === "released")).toHaveLength(2);
    expect(await inFlight(redis)).toEqual(units(0));
    const { 200: served, 429: refused } = byStatus(await many(3, () => allocate()));
    expect([served?.length, refused?.length]).toEqual([2, 1]);
    expect(await inFlight(redis)).toEqual(units(2));
  });

  test("a release that names the wrong credential, provider or pool ends nothing", async () => {
    await add("key_01", 1);
    await add("key_02", 1, { models: { other: "other" } });
    await add("key_03", 1, { pool: "vip" });
    const held = await lease();
    for (const wrong of [
      { key_id: "key_02" },
      { key_id: "nobody" },
      { provider: "other" },
      { pool: "vip" },
      { pool: "none" },
    ]) {
      const answer = await release(held, { ...wrong, outcome: { kind: "auth_failed" } });
      expect([wrong, answer.status, answer.body]).toEqual([
        wrong,
        200,
        { released: false, reason: "mismatch" },
      ]);
      expect((await renew(held, wrong)).body).toMatchObject({ code: "lease_lost", reason: "mismatch" });
    }
    expect((await release({ ...held, lease_id: "lse_nobody" })).body).toEqual({
      released: false,
      reason: "unknown",
    });
    expect((await allocate()).status).toBe(429);
    expect((await renew(held)).status).toBe(200);
    expect((await release(held)).body).toEqual({ released: true });
  });
});
