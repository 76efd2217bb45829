// Whether the cost of a pair of calls grows with what is there already.
import type { Options } from "./benchmark.ts";
import type { Database } from "./redis.ts";
import { columnOf, type Subject, sample } from "./sample.ts";
import { inRounds, median, ratioOf } from "./timing.ts";

export const FLAT = 1.5;

export interface Growing {
  readonly title: string;
  readonly take: string;
  readonly give: string;
  /** What grows, for people who wait. */
  readonly what: string;
  readonly sizes: readonly number[];
  readonly subjectOf: (name: string, size: number) => Promise<Subject>;
  readonly count: number;
  readonly notes: readonly string[];
}

/** Resolves with the bounds that are broken: whatever the size, within 1.5 times the first row. */
export async function showGrowth(
  db: Database,
  { runs, progress, show }: Options,
  growing: Growing,
): Promise<string[]> {
  const { title, take, give, what, sizes, subjectOf, count, notes } = growing;
  const subjects: Subject[] = [];
  for (const size of sizes) {
    progress(`${what}: ${size}`);
    subjects.push(await subjectOf(size.toLocaleString("en-US"), size));
  }
  const samples = await inRounds(
    runs,
    subjects.map((subject) => () => sample(db, subject, count)),
    (round) => progress(`growth with ${what}, round ${round} of ${runs}`),
  );
  const pairs = samples.map((one) => columnOf(one, "pair_us"));
  const broken: string[] = [];
  const rows = subjects.map(({ name }, i) => {
    const ratio = ratioOf(pairs[i] ?? [], pairs[0] ?? []);
    const flat = ratio.median <= FLAT;
    if (!flat)
      broken.push(`${take} + ${give} grows with ${what}: ${ratio.median.toFixed(2)} times at ${name}`);
    return [
      name,
      median(columnOf(samples[i], "take_us")),
      median(columnOf(samples[i], "give_us")),
      median(pairs[i] ?? []),
      ratio,
      flat ? "flat" : "GROWS",
    ];
  });
  const columns = ["", `${take}, µs`, `${give}, µs`, "both, µs", "x the first", ""];
  const how = `${runs} interleaved rounds of ${count} pairs; flat: within ${FLAT} times the first row`;
  show({ title, columns, rows, notes: [...notes, how] });
  return broken;
}
