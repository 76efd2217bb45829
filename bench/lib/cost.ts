// What a pair of calls costs, beside other ways to do it: server time of each half, ratios, throughput.
import type { Options } from "./benchmark.ts";
import type { Database } from "./redis.ts";
import { columnOf, type Subject, sample, WIDTH } from "./sample.ts";
import { inRounds, median, ratioOf } from "./timing.ts";

export interface Costs {
  readonly title: string;
  /** The names of the two halves. */
  readonly take: string;
  readonly give: string;
  readonly subjects: readonly Subject[];
  /** Which of the subjects all are compared with, and the name of that column. */
  readonly against: readonly { readonly at: number; readonly name: string }[];
  /** Pairs in a round. */
  readonly count: number;
  readonly notes: readonly string[];
}

export async function showCosts(db: Database, { runs, progress, show }: Options, costs: Costs) {
  const { title, take, give, subjects, against, count, notes } = costs;
  const samples = await inRounds(
    runs,
    subjects.map((subject) => () => sample(db, subject, count)),
    (round) => progress(`cost, round ${round} of ${runs}`),
  );
  const pairs = samples.map((one) => columnOf(one, "pair_us"));
  const rows = subjects.map(({ name }, i) => [
    name,
    median(columnOf(samples[i], "take_us")),
    median(columnOf(samples[i], "give_us")),
    median(pairs[i] ?? []),
    ...against.map(({ at }) => ratioOf(pairs[i] ?? [], pairs[at] ?? [])),
    median(columnOf(samples[i], "pairs_per_s")),
  ]);
  const ratios = against.map(({ name }) => `x ${name}`);
  show({
    title,
    columns: ["", `${take}, µs`, `${give}, µs`, "both, µs", ...ratios, "pairs/s"],
    rows,
    notes: [
      `µs are the server's own (INFO commandstats); medians of ${runs} interleaved rounds of ${count} pairs, ratios round by round with their range`,
      `pairs/s: ${WIDTH} calls under way on one connection, the client's own time included`,
      ...notes,
    ],
  });
}
