// Several ways to spend prepaid funds from many callers at once: how much was spent that was not there, and how fast it went.
import type { Options } from "../lib/benchmark.ts";
import { connectionsOf } from "../lib/callers.ts";
import { GaveUp, GIVE_UP_MS } from "../lib/patience.ts";
import type { Database } from "../lib/redis.ts";
import { columnOf } from "../lib/sample.ts";
import type { Cell, Table } from "../lib/table.ts";
import { inRounds, median, quantile, ratioOf } from "../lib/timing.ts";
import { AMOUNT, PLENTY } from "./ledger.ts";
import type { Way } from "./ways/way.ts";
import { waysOf } from "./ways/ways.ts";

const CALLERS = [30, 1_000];
const CALLS = 37;
/** For so many calls and half a one, so that a way that spends a part shows, too. */
const FUNDS = CALLS * AMOUNT + AMOUNT / 2;

interface Outcome {
  readonly admitted: number;
  /** Spent beyond the funds. */
  readonly overspent: number;
  /** Of all that was spent with funds for everyone, the share that the books do not have. */
  readonly unbooked: number;
  readonly calls_per_s: number;
  readonly gave_up: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** Whether the call was admitted; undefined: no answer. */
async function answered(call: Promise<boolean>): Promise<boolean | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GaveUp) return undefined;
    throw error;
  }
}

/** Everyone spends until refused. Resolves with the calls that were admitted. */
async function drain(way: Way, callers: number): Promise<number> {
  await way.prepare(FUNDS);
  let admitted = 0;
  const caller = async (n: number) => {
    while (await answered(way.spend(n, AMOUNT))) admitted++;
  };
  await Promise.all(Array.from({ length: callers }, (_, n) => caller(n)));
  return admitted;
}

async function spendAgainAndAgain(way: Way, callers: number, for_ms: number) {
  await way.prepare(PLENTY);
  const waits_ms: number[] = [];
  let [spent, in_time, gave_up] = [0, 0, 0];
  const ends_ms = performance.now() + for_ms;
  const caller = async (n: number) => {
    while (performance.now() < ends_ms) {
      const began = performance.now();
      const admitted = await answered(way.spend(n, AMOUNT));
      const now = performance.now();
      if (admitted === false) throw new Error(`${way.name}: refused with funds for everyone`);
      if (admitted === undefined) {
        gave_up++;
        continue;
      }
      waits_ms.push(now - began);
      spent += AMOUNT;
      if (now < ends_ms) in_time++;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, n) => caller(n)));
  const booked = PLENTY - (await way.left());
  const unbooked = spent > 0 ? (spent - booked) / spent : 0;
  return {
    unbooked,
    calls_per_s: (in_time / for_ms) * 1000,
    gave_up,
    p50_ms: quantile(waits_ms, 0.5),
    p99_ms: quantile(waits_ms, 0.99),
  };
}

async function contend(way: Way, callers: number, for_ms: number): Promise<Outcome> {
  const admitted = await drain(way, callers);
  const rest = await spendAgainAndAgain(way, callers, for_ms);
  return { admitted, overspent: Math.max(0, admitted * AMOUNT - FUNDS), ...rest };
}

function tableOf(
  callers: number,
  ways: readonly Way[],
  outcomes: readonly Outcome[][],
  notes: string[],
): Table {
  const ours = columnOf(outcomes.at(-1), "calls_per_s");
  const rows = ways.map(({ name }, i): Cell[] => {
    const middle = (field: keyof Outcome) => median(columnOf(outcomes[i], field));
    return [
      name,
      Math.max(...columnOf(outcomes[i], "admitted")),
      Math.max(...columnOf(outcomes[i], "overspent")),
      100 * middle("unbooked"),
      middle("gave_up"),
      middle("calls_per_s"),
      ratioOf(columnOf(outcomes[i], "calls_per_s"), ours),
      middle("p50_ms"),
      middle("p99_ms"),
    ];
  });
  const columns = ["", `of ${CALLS}`, "overspent", "unbooked, %", "gave up", "calls/s"];
  return {
    title: `${callers.toLocaleString("en-US")} callers, funds for ${CALLS} calls of ${AMOUNT.toLocaleString("en-US")} units`,
    columns: [...columns, "x a reserve", "p50, ms", "p99, ms"],
    rows,
    notes,
  };
}

/** Resolves with what ours did that it must not. */
export async function overspend(db: Database, { quick, runs, progress, show }: Options): Promise<string[]> {
  const rounds = Math.min(runs, quick ? 1 : 3);
  const for_ms = quick ? 500 : 1_500;
  const ways = waysOf(await connectionsOf(db, Math.max(...CALLERS)));
  const notes = [
    `of ${CALLS}: calls admitted when all callers spend until refused; overspent: units beyond the funds. The worst of ${rounds} rounds`,
    `the rest with funds for everyone: unbooked is the share of what was spent that the balance does not show; gave up: no answer within ${GIVE_UP_MS} ms`,
    `p50, p99: of one admitted call. Medians of ${rounds} interleaved rounds of ${for_ms} ms`,
    "all but ours only count: a repeat deducts again, and nothing ends what a dead caller has taken",
    "each caller has its own connection to Redis, and all run in one process on the machine of the server",
  ];
  const broken: string[] = [];
  for (const callers of CALLERS) {
    const outcomes = await inRounds(
      rounds,
      ways.map((way) => (round) => contend(way, callers, round > 0 ? for_ms : for_ms / 4)),
      (round) => progress(`${callers} callers, round ${round} of ${rounds}`),
    );
    show(tableOf(callers, ways, outcomes, callers === CALLERS.at(-1) ? notes : []));
    for (const [i, { name }] of ways.entries()) {
      if (!name.startsWith("ours")) continue;
      const wrong = outcomes[i]?.find((one) => one.admitted !== CALLS || one.unbooked !== 0);
      if (!wrong) continue;
      const { admitted, unbooked } = wrong;
      broken.push(
        `${name}, ${callers} callers: ${admitted} of ${CALLS} calls admitted, ${unbooked} unbooked`,
      );
    }
  }
  return broken;
}
