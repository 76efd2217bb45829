// One reserve as a Worker sends it: the production client over HTTP to the Upstash double, which is a process of its own.
import { Redis as Upstash } from "@upstash/redis/cloudflare";
import { reserve } from "../../src/scripts/quota/reserve.ts";
import { run } from "../../src/scripts/run.ts";
import { CLIENT, Deadline, Store } from "../../src/store.ts";
import { startUpstashProcess } from "../../test/support/workerd.ts";
import type { Options } from "../lib/benchmark.ts";
import { noop } from "../lib/noop.ts";
import type { Database } from "../lib/redis.ts";
import { columnOf } from "../lib/sample.ts";
import type { Cell } from "../lib/table.ts";
import { inParallel, inRounds, median, quantile, ratioOf } from "../lib/timing.ts";
import { expecting, ledgerOf, newCell, newHoldId, newOpId, PLENTY, subsOf } from "./ledger.ts";

const CALLERS = [1, 16, 64];
const HOUR_MS = 3_600_000;

interface Sample {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly calls_per_s: number;
}

async function measure(call: () => Promise<unknown>, count: number, callers: number): Promise<Sample> {
  const waits_ms: number[] = [];
  const seconds = await inParallel(count, callers, async () => {
    const began = performance.now();
    await call();
    waits_ms.push(performance.now() - began);
  });
  return { p50_ms: quantile(waits_ms, 0.5), p99_ms: quantile(waits_ms, 0.99), calls_per_s: count / seconds };
}

export async function latency(db: Database, { quick, runs, cleanup, progress, show }: Options) {
  const count = quick ? 500 : 2_000;
  const double = await startUpstashProcess(db.main.options.port ?? 0, { guard: false });
  cleanup.defer(() => double.stop());
  const deadline = new Deadline(HOUR_MS, HOUR_MS);
  const client = new Upstash({ url: double.url, token: double.token, ...CLIENT, signal: deadline.signal });
  const store = new Store(client, "upstash", deadline);
  const ledger = ledgerOf(store, newCell());
  const [sub = ""] = subsOf(1);
  await ledger.put();
  await ledger.putSub(sub);
  await ledger.adjust(sub, newOpId(), PLENTY);

  const nothing = noop("reserve-noop", reserve);
  const calls = {
    "no-op EVALSHA": () => {
      const { keys, args } = ledger.asked(sub, newHoldId());
      return run(store, nothing, keys, args);
    },
    reserve: () => expecting("reserved", ledger.reserve(sub, newHoldId())),
  };
  const cases = CALLERS.flatMap((callers) =>
    Object.entries(calls).map(([name, call]) => ({ name, callers, call })),
  );
  const samples = await inRounds(
    runs,
    cases.map(
      ({ call, callers }) =>
        () =>
          measure(call, callers === 1 ? count / 4 : count, callers),
    ),
    (round) => progress(`over HTTP, round ${round} of ${runs}`),
  );
  const rows = cases.map(({ name, callers }, i): Cell[] => {
    const base = samples[i - (i % Object.keys(calls).length)];
    return [
      `${callers === 1 ? "1 caller" : `${callers} callers`}, ${name}`,
      median(columnOf(samples[i], "p50_ms")),
      median(columnOf(samples[i], "p99_ms")),
      ratioOf(columnOf(samples[i], "p50_ms"), columnOf(base, "p50_ms")),
      ratioOf(columnOf(samples[i], "p99_ms"), columnOf(base, "p99_ms")),
      median(columnOf(samples[i], "calls_per_s")),
    ];
  });
  show({
    title: "One reserve through the Upstash double",
    columns: ["", "p50, ms", "p99, ms", "p50 x no-op", "p99 x no-op", "calls/s"],
    rows,
    notes: [
      "the production client over HTTP; the callers in one process, the double and Redis in one each, all on this machine",
      `medians of ${runs} interleaved rounds of ${count} calls, a quarter of them with one caller`,
    ],
  });
}
