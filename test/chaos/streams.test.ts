// Two hundred streams at once, while callers leave, upstream fails and Redis stops: an amount that stays held or a unit that stays
// taken for ever, if this failed.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Behave } from "../../dev/upstream/behave.ts";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { keysOf } from "../../src/keys.ts";
import { Metrics } from "../../src/metrics.ts";
import { sweepLeases } from "../../src/pools/sweep.ts";
import { sweepHolds } from "../../src/quota/sweep.ts";
import { check } from "../checker/check.ts";
import { arrange } from "../support/gateway-place.ts";
import { entriesOf, tenantStateOf } from "../support/ledger.ts";
import { poolStateOf } from "../support/pool.ts";
import { storeAt, useRedis } from "../support/redis.ts";
import { variables } from "../support/worker.ts";
import { type Running, startUpstashProcess, startWorkerd } from "../support/workerd.ts";

const CELL = "streams";
const STREAMS = 200;
const WAVE = 50;
const keys = keysOf(CELL);
const redis = useRedis();
let upstream: Upstream;
let double: Running & { token: string };
let worker: Running;
beforeAll(async () => {
  double = await startUpstashProcess(redis.server.port);
  upstream = await startUpstream();
  const patient = { REDIS_TIMEOUT_MS: "3000", REQUEST_DEADLINE_MS: "6000", UPSTREAM_IDLE_MS: "1500" };
  worker = await startWorkerd(variables(double.url, double.token, { CELL, ...patient }));
});
afterAll(async () => {
  await worker?.stop();
  await upstream?.stop();
  await double?.stop();
});

const TROUBLES: Behave[] = [
  { kind: "server_error" },
  { kind: "reset_midstream", after: 3 },
  { kind: "stall", after: 3 },
  { kind: "cut", after: 2 },
  { kind: "error_event", after: 2 },
  { usage: "none" },
  { delay_ms: 10, output_tokens: 60 },
];

/** One in four is left before it is whole. */
async function stream(token: string, i: number): Promise<string> {
  const leaving = i % 4 === 0 ? AbortSignal.timeout(20 + (i % 7) * 15) : undefined;
  try {
    const reply = await fetch(`${worker.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "demo-chat", stream: true, max_tokens: 200 },
        messages: [{ role: "user", content: "How many loaves?" }],
      }),
      ...(leaving ? { signal: leaving } : {}),
    });
    const text = await reply.text();
    return reply.status === 200 ? "200" : `${reply.status} ${text.slice(0, 120)}`;
  } catch {
    return "left or cut";
  }
}

/** As the cron trigger does it. */
async function sweep() {
  const deps = {
    keys,
    settings: { CELL, HOLD_KEEP_MINUTES: 60 },
    metrics: new Metrics(),
    backgroundStore: () => storeAt(double.url, double.token),
  } as unknown as Parameters<typeof sweepHolds>[0];
  await sweepHolds(deps);
  await sweepLeases(deps);
}

test("200 streams in trouble: each ends once, nothing is held and nothing is in flight", {
  timeout: 120_000,
}, async () => {
  const { token } = await arrange(worker.url, upstream.url);
  for (let i = 0; i < 120; i++) upstream.behave({ ...(TROUBLES[i % TROUBLES.length] as Behave), times: 1 });
  const answers: string[] = [];
  for (let wave = 0; wave < STREAMS / WAVE; wave++) {
    const calls = Array.from({ length: WAVE }, (_, i) => stream(token, wave * WAVE + i));
    await sleep(60);
    await redis.raw.call("CLIENT", "PAUSE", "400", "ALL"); // some begin and some end while it lasts
    answers.push(...(await Promise.all(calls)));
  }
  expect(answers.filter((answer) => answer === "200").length).toBeGreaterThan(50);
  const open = async () =>
    tenantStateOf(await redis.raw.hget(keys.tenant("acme").tenant_key, "state")).open ?? 0;
  await expect.poll(open, { timeout: 30_000 }).toBeLessThan(20); // what is left was lost with its end, and has its deadline
  await redis.raw.set("test:now_ms", redis.now_ms + 125_000);
  await sweep();
  expect(await open()).toBe(0);
  const { pool_key } = keys.pool("demo", "default");
  expect(poolStateOf(await redis.raw.hget(pool_key, "@pool")).in_flight).toBe(0);
  const entries = entriesOf(await redis.raw.xrange(keys.tenant("acme").journal_key, "-", "+"));
  const ends = entries.filter(({ hold }) => hold).map(({ hold }) => hold);
  expect(ends.length).toBeGreaterThan(100);
  expect(await check(redis.raw, CELL)).toEqual([]);
});
