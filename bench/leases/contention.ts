// Several ways to hand out a few units to many callers at once: how often too many were in use, and how fast it went.
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "../lib/benchmark.ts";
import { connectionsOf } from "../lib/callers.ts";
import { GaveUp, GIVE_UP_MS } from "../lib/patience.ts";
import { startPostgres } from "../lib/postgres.ts";
import type { Database } from "../lib/redis.ts";
import { columnOf } from "../lib/sample.ts";
import type { Cell, Table } from "../lib/table.ts";
import { inRounds, median, quantile, ratioOf } from "../lib/timing.ts";
import { lock, naive, script, watch } from "./ways/counter.ts";
import { lease } from "./ways/lease.ts";
import { oneUpdate, rowLock } from "./ways/row.ts";
import type { Unit, Way } from "./ways/way.ts";

const UNITS = 32;
const CALLERS = [64, 1_000];
const SQL_CONNECTIONS = 64;
const HOLD_MS = 2;
/** A refused caller waits at random up to so long for each caller there is: some 2,000 tries a second, however many. */
const BACKOFF_MS = 1;

interface Outcome {
  readonly answers_per_s: number;
  readonly leases_per_s: number;
  /** Grants while all units were in use already; a lower bound, since a unit counts only while its holder works. */
  readonly oversold: number;
  readonly most_in_use: number;
  readonly gave_up: number;
  /** Units that the way still believes to be in use when nobody holds one; below 0 it would hand out too many. */
  readonly left: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** Calls with an answer, and how long each took. */
class Log {
  readonly ends_ms: number;
  readonly waits_ms: number[] = [];
  in_use = 0;
  most_in_use = 0;
  answers = 0;
  leases = 0;
  oversold = 0;
  gave_up = 0;

  constructor(ends_ms: number) {
    this.ends_ms = ends_ms;
  }

  async timed<T>(call: Promise<T>): Promise<T | "gave up"> {
    const began = performance.now();
    try {
      const answer = await call;
      const now = performance.now();
      this.waits_ms.push(now - began);
      if (now < this.ends_ms) this.answers++;
      return answer;
    } catch (error) {
      if (!(error instanceof GaveUp)) throw error;
      this.gave_up++;
      return "gave up";
    }
  }
}

async function hold(way: Way, caller: number, unit: Unit, log: Log) {
  log.in_use++;
  log.most_in_use = Math.max(log.most_in_use, log.in_use);
  if (log.in_use > UNITS) log.oversold++;
  await sleep(Math.random() * HOLD_MS);
  log.in_use--;
  if (performance.now() < log.ends_ms) log.leases++;
  await way.give(caller, unit).catch((error: unknown) => {
    if (!(error instanceof GaveUp)) throw error;
    log.gave_up++;
  });
}

/** Takes, holds, gives back, until the time is over. */
async function callAgainAndAgain(way: Way, caller: number, callers: number, log: Log) {
  while (performance.now() < log.ends_ms) {
    const unit = await log.timed(way.take(caller));
    if (unit === "gave up") continue;
    if (unit === undefined) await sleep(Math.random() * BACKOFF_MS * callers);
    else await hold(way, caller, unit, log);
  }
}

async function contend(way: Way, callers: number, for_ms: number): Promise<Outcome> {
  await way.prepare(UNITS);
  const log = new Log(performance.now() + for_ms);
  await Promise.all(Array.from({ length: callers }, (_, n) => callAgainAndAgain(way, n, callers, log)));
  return {
    answers_per_s: (log.answers / for_ms) * 1000,
    leases_per_s: (log.leases / for_ms) * 1000,
    oversold: log.oversold,
    most_in_use: log.most_in_use,
    gave_up: log.gave_up,
    left: await way.inUse(),
    p50_ms: quantile(log.waits_ms, 0.5),
    p99_ms: quantile(log.waits_ms, 0.99),
  };
}

function tableOf(
  callers: number,
  ways: readonly Way[],
  outcomes: readonly Outcome[][],
  notes: string[],
): Table {
  const ours = columnOf(outcomes.at(-1), "leases_per_s");
  const rows = ways.map(({ name }, i): Cell[] => {
    const middle = (field: keyof Outcome) => median(columnOf(outcomes[i], field));
    return [
      name,
      middle("oversold"),
      Math.max(...columnOf(outcomes[i], "most_in_use")),
      middle("left"),
      middle("gave_up"),
      middle("answers_per_s"),
      middle("leases_per_s"),
      ratioOf(columnOf(outcomes[i], "leases_per_s"), ours),
      middle("p50_ms"),
      middle("p99_ms"),
    ];
  });
  return {
    title: `${callers.toLocaleString("en-US")} callers, ${UNITS} units`,
    columns: [
      "",
      "oversold",
      "most in use",
      "left over",
      "gave up",
      "answers/s",
      "leases/s",
      "x a lease",
      "p50, ms",
      "p99, ms",
    ],
    rows,
    notes,
  };
}

/** The ways that need PostgreSQL, and what to say of them: without one they are left out. */
async function rowWays(cleanup: AsyncDisposableStack): Promise<{ ways: Way[]; note: string }> {
  try {
    const sql = await startPostgres(cleanup, SQL_CONNECTIONS);
    const note = `PostgreSQL has ${SQL_CONNECTIONS} connections, and synchronous_commit = off: no commit waits for the disk`;
    return { ways: [rowLock(sql), oneUpdate(sql)], note };
  } catch (error) {
    const [why] = error instanceof Error ? error.message.split("\n") : [String(error)];
    return { ways: [], note: `no row lock was measured: ${why}` };
  }
}

export async function contention(db: Database, options: Options) {
  const { quick, runs, cleanup, progress, show } = options;
  const rounds = Math.min(runs, quick ? 1 : 3);
  const for_ms = quick ? 600 : 1_500;
  const connections = await connectionsOf(db, Math.max(...CALLERS));
  const rows = await rowWays(cleanup);
  const ways = [
    naive(connections),
    watch(connections),
    lock(connections),
    ...rows.ways,
    script(connections),
    lease(connections),
  ];
  const notes = [
    `each caller takes a unit, holds it up to ${HOLD_MS} ms, gives it back; a refused one waits at random up to ${BACKOFF_MS} ms for each caller there is`,
    "oversold: grants beyond the units, counted in the callers' process. Left over: what the way believes is in use at the end",
    `gave up: no answer within ${GIVE_UP_MS} ms. Answers: grants and refusals. p50, p99: of one answered take. Medians of ${rounds} interleaved rounds of ${for_ms} ms`,
    "all but the lease only count: they know no holder, and keep for ever the unit of a caller that died",
    "each caller has its own connection to Redis, and all run in one process on the machine of the servers",
    rows.note,
  ];
  for (const callers of CALLERS) {
    const outcomes = await inRounds(
      rounds,
      ways.map((way) => (round) => contend(way, callers, round > 0 ? for_ms : for_ms / 4)),
      (round) => progress(`${callers} callers, round ${round} of ${rounds}`),
    );
    show(tableOf(callers, ways, outcomes, callers === CALLERS.at(-1) ? notes : []));
  }
}
