// `npm run bench -- soak`: five minutes of the gateway in trouble, then the books: what is held, in flight, unbooked at the end.
import { setTimeout as sleep } from "node:timers/promises";
import { startUpstream } from "../../dev/upstream/server.ts";
import { keysOf } from "../../src/keys.ts";
import { Metrics } from "../../src/metrics.ts";
import { sweepLeases } from "../../src/pools/sweep.ts";
import { sweepHolds } from "../../src/quota/sweep.ts";
import { check } from "../../test/checker/check.ts";
import build from "../../test/support/build.ts";
import { arrange } from "../../test/support/gateway-place.ts";
import { storeAt } from "../../test/support/redis.ts";
import { variables } from "../../test/support/worker.ts";
import { startUpstashProcess, startWorkerd } from "../../test/support/workerd.ts";
import type { Options, Report } from "../lib/benchmark.ts";
import { startDatabase } from "../lib/redis.ts";
import { traffic } from "./traffic.ts";

const SECONDS = 300;
const QUICK_SECONDS = 20;
/** A call whose Worker died ends by itself so soon (src/gateway/admission.ts), and a little more. */
const TERM_MS = 122_000;
const CELL = "soak";

export async function run({ quick, cleanup, progress, show }: Options): Promise<Report> {
  build();
  const db = await startDatabase(cleanup);
  const upstash = await startUpstashProcess(db.main.options.port ?? 0, { guard: false });
  cleanup.defer(() => upstash.stop());
  const upstream = await startUpstream();
  cleanup.defer(() => upstream.stop());
  const worker = await startWorkerd(
    variables(upstash.url, upstash.token, { CELL, UPSTREAM_IDLE_MS: "2000" }),
  );
  cleanup.defer(() => worker.stop());

  const place = await arrange(worker.url, upstream.url);
  const seconds = quick ? QUICK_SECONDS : SECONDS;
  progress(`${seconds} s of calls that fail, hang and are left, while Redis stops now and then`);
  const counts = await traffic({ seconds, worker_url: worker.url, upstream, redis: db.main, ...place });

  progress(`waiting ${TERM_MS / 1000} s for what a lost end leaves behind, then the sweep and the checker`);
  await sleep(TERM_MS);
  await sweep(upstash.url, upstash.token);
  const broken = await check(db.main, CELL, { now_ms: Date.now(), swept: true });
  const left = await left_over(db.main);
  if (left !== "nothing") broken.push(left);
  show({
    title: `${seconds} s of the gateway in trouble`,
    columns: ["answered with", "calls"],
    rows: Object.entries(counts).sort(([, a], [, b]) => b - a),
    notes: [`left held or in flight at the end: ${left}`, `violations of the checker: ${broken.length}`],
  });
  return { redis: db.version, broken };
}

/** As the cron trigger does it. */
async function sweep(url: string, token: string) {
  const deps = {
    keys: keysOf(CELL),
    settings: { CELL, HOLD_KEEP_MINUTES: 60 },
    metrics: new Metrics(),
    backgroundStore: () => storeAt(url, token),
  } as unknown as Parameters<typeof sweepHolds>[0];
  await sweepHolds(deps);
  await sweepLeases(deps);
}

/** What nothing holds any more must be nowhere: read from the packed fields themselves. */
async function left_over(redis: Awaited<ReturnType<typeof startDatabase>>["main"]): Promise<string> {
  const keys = keysOf(CELL);
  const state = (await redis.hget(keys.tenant("acme").tenant_key, "state")) ?? "";
  const pool = (await redis.hget(keys.pool("demo", "default").pool_key, "@pool")) ?? "";
  const [open, in_flight] = [Number(state.split(" ")[3]), Number(pool.split(" ")[5])];
  return open === 0 && in_flight === 0 ? "nothing" : `${open} holds, ${in_flight} leases`;
}
