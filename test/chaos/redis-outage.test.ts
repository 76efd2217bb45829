// Redis away, ill or emptied: a caller who would hang, be lied to, or lose a place for ever, if these failed.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { allocate as script } from "../../src/scripts/lease/allocate.ts";
import {
  type Answer,
  inFlight,
  METRICS_KEY,
  many,
  settled,
  units,
  useWorker,
  verbsOf,
} from "../support/worker.ts";

const TIMEOUT_MS = 500;
const DEADLINE_MS = 800;
/** What the way to the Worker and back may cost on a busy machine. */
const SLACK_MS = 1000;

const worker = useWorker({ REDIS_TIMEOUT_MS: String(TIMEOUT_MS), REQUEST_DEADLINE_MS: String(DEADLINE_MS) });
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis, admin } = worker;

/** An outage as the caller sees it: in time, with a code of its own, and when to come back. */
async function expectOutage(ask: () => Promise<Answer>, maybe_applied: boolean): Promise<Answer> {
  const started_at_ms = performance.now();
  const answer = await ask();
  expect(performance.now() - started_at_ms).toBeLessThan(DEADLINE_MS + SLACK_MS);
  const { status, headers, body } = answer;
  expect([status, body.code, body.maybe_applied]).toEqual([503, "store_unavailable", maybe_applied]);
  expect(headers.get("retry-after")).toBe(String(body.retry_after_seconds));
  return answer;
}

describe("Redis hangs", () => {
  const paused = async (work: () => Promise<unknown>) => {
    redis.server.pause();
    await work().finally(() => redis.server.resume());
  };

  test("each verb answers in time whether it may have happened; nothing is half held afterwards", async () => {
    await add("key_01", 3);
    const [one, two] = [await lease(), await lease()];
    await paused(async () => {
      await expectOutage(() => allocate(), true);
      await expectOutage(() => renew(one), true);
      await expectOutage(() => release(one), true);
      await expectOutage(() => add("key_02"), false); // it looks for the cell first
      await expectOutage(() => admin("GET", "/credentials"), false);
    });
    expect((await renew(two)).status).toBe(200);
    await release(one);
    expect((await release(one)).body).toEqual({ released: false, reason: "released" });
    await settled(redis, 1); // the allocation that nobody waits for is given back
    await lease();
    await lease();
    expect((await allocate()).body.code).toBe("no_capacity");
  });

  test("an allocation with an op_id is kept for its repeat: one lease", async () => {
    await add("key_01", 9);
    await lease({ op_id: "warm" });
    await paused(() => expectOutage(() => allocate({ op_id: "op-1" }), true));
    const [first, second] = await many(2, () => lease({ op_id: "op-1" }));
    expect(first).toEqual(second);
    expect(await inFlight(redis)).toEqual(units(2));
  });

  test("an isolate that knows nothing yet answers in time, too, and that nothing happened", async () => {
    await add("key_01"); // forgets what the isolate knew of the pool
    await paused(() => expectOutage(() => allocate(), false));
    await lease();
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("slow answers add up to one deadline", async () => {
    await add("key_01");
    await redis.raw.script("FLUSH");
    redis.double.fault({ kind: "delay", ms: 300, times: 99 });
    await expectOutage(() => allocate(), true); // a read, a NOSCRIPT, and an EVAL that the deadline cuts off
    await settled(redis, 0);
  });

  test("it is counted and logged as an outage, never as a lack of capacity", async () => {
    await worker.deploy({}); // counters start anew
    await add("key_01");
    await lease();
    await allocate();
    worker.clearLogs();
    await paused(() => expectOutage(() => allocate(), true));
    const { body } = await worker.call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
    expect(body).toContain('qm_store_unavailable_total{reason="timeout"} 1\n');
    expect(body).toContain('qm_refusals_total{code="store_unavailable"} 1\n');
    expect(body).toContain('qm_refusals_total{code="no_capacity"} 1\n');
    const log = worker.logs().map(({ message }) => message);
    expect(log.filter((line) => line.includes('"event":"store_unavailable"'))).toHaveLength(1);
    expect(log.some((line) => line.includes("no_capacity"))).toBe(false);
  });
});

describe("Redis is stopped", () => {
  test("case D39: 503; started again and empty it is no cell, never an unknown name; then all works", async () => {
    await add("key_01", 2);
    const held = await lease();
    const verbs = [
      () => allocate(),
      () => allocate({ op_id: "op-1" }),
      () => allocate({ provider: "nobody" }),
      () => renew(held),
      () => release(held),
      () => add("key_02"),
      () => admin("GET", "/credentials/openai/default/key_01"),
      () => worker.call("GET", "/readyz", {}),
    ];
    await redis.server.stop();
    for (const verb of verbs) expect((await verb()).body.code).toBe("store_unavailable");
    await redis.server.restart();
    await redis.later(1000);
    for (const verb of verbs)
      expect((await expectOutage(verb, false)).body.detail).toContain("/api/admin/cell");
    expect((await admin("POST", "/cell")).status).toBe(201);
    await add("key_01", 2);
    expect((await renew(held)).body).toMatchObject({ code: "lease_lost", reason: "unknown" });
    expect((await lease()).fence).toBeGreaterThan(held.fence); // an old holder is still told from a new one
    expect(await inFlight(redis)).toEqual(units(1));
  });
});

describe("case D42: Redis answers badly", () => {
  const { sha, source } = script.text.upstash;
  /** Allocations only: what an earlier test left to give back meets no fault of this one. */
  const isGrant = ([, what = ""]: string[]) => what === sha || what === source;
  const isRead = ([name = ""]: string[]) => name.toUpperCase() === "HRANDFIELD";

  test.each([
    ["html_500", true],
    ["too_many_requests", false],
    ["drop_before", true],
    ["drop_after", true],
  ] as const)(
    "%s on the second of two calls: 503, nothing held, and the next one works",
    async (kind, maybe) => {
      await add("key_01");
      await release(await lease());
      await add("key_02", 1, { models: { other: "other" } }); // forgets what the isolate knew of the pool
      redis.double.requests = 0;
      redis.double.fault({ kind, match: isGrant });
      await expectOutage(() => allocate(), maybe);
      expect(redis.double.requests).toBeGreaterThanOrEqual(2);
      await settled(redis, 0);
      await lease();
      expect(await inFlight(redis)).toEqual(units(1));
    },
  );

  test.each(["html_500", "too_many_requests", "drop_before"] as const)(
    "%s on the first: nothing happened",
    async (kind) => {
      await add("key_01");
      redis.double.fault({ kind, match: isRead });
      await expectOutage(() => allocate(), false);
      expect(await inFlight(redis)).toEqual(units(0));
      await lease();
    },
  );

  test("a grant that reaches Redis after it was given up on is not held", async () => {
    await add("key_01");
    await release(await lease());
    redis.double.fault({ kind: "delay", ms: TIMEOUT_MS + 200, match: isGrant });
    await expectOutage(() => allocate(), true);
    await sleep(DEADLINE_MS); // it has arrived
    expect(await inFlight(redis)).toEqual(units(0));
    await lease();
  });
});
