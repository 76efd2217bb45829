// What the gateway adds to a chat completion and to a short stream: beside a direct call, a Worker that only passes on, and Portkey.
import type { Options } from "../lib/benchmark.ts";
import { columnOf } from "../lib/sample.ts";
import type { Cell } from "../lib/table.ts";
import { inRounds } from "../lib/timing.ts";
import { type Kind, measure, type Sample } from "./load.ts";
import type { Place, Way } from "./place.ts";

const CALLERS = [1, 16, 64];
const RUNS = 3;

interface Row {
  readonly way: Way;
  readonly callers: number;
  readonly best: Sample;
}

/** Of several runs the best of each: what the machine did beside it only makes them worse. */
function bestOf(samples: readonly Sample[]): Sample {
  const least = (field: keyof Sample) => Math.min(...columnOf(samples, field));
  return {
    p50_ms: least("p50_ms"),
    p99_ms: least("p99_ms"),
    first_p50_ms: least("first_p50_ms"),
    first_p99_ms: least("first_p99_ms"),
    calls_per_s: Math.max(...columnOf(samples, "calls_per_s")),
  };
}

async function rowsOf({ ways, idle }: Place, kind: Kind, options: Options): Promise<Row[]> {
  const { quick, runs, progress } = options;
  const count = quick ? 200 : 1_600;
  const list = [ways.direct, ways.passing, ...(ways.theirs ? [ways.theirs] : []), ways.ours];
  const cases = CALLERS.flatMap((callers) => list.map((way) => ({ way, callers })));
  const rounds = Math.min(runs, RUNS);
  const samples = await inRounds(
    rounds,
    cases.map(({ way, callers }) => async (round: number) => {
      const calls = callers === 1 ? count / 4 : count;
      const sample = await measure(way, kind, callers, round > 0 ? calls : calls / 4);
      await idle(); // what ends after its reply is not in the next one's time
      return sample;
    }),
    (round) => progress(`${kind}s over HTTP, round ${round} of ${rounds}`),
  );
  return cases.map((one, i) => ({ ...one, best: bestOf(samples[i] ?? []) }));
}

/** Each row against another way at as many callers. */
function tableOf(
  rows: readonly Row[],
  ways: Place["ways"],
  cells: (best: Sample, direct: Sample) => Cell[],
  x: keyof Sample,
) {
  const { direct, passing, theirs } = ways;
  return rows.map(({ way, callers, best }): Cell[] => {
    const of = (other: Way | undefined) =>
      rows.find((row) => row.way === other && row.callers === callers)?.best;
    const base = of(direct) ?? best;
    const against = (other: Way | undefined) => {
      const found = way === ways.ours ? of(other) : undefined;
      return found ? best[x] / found[x] : "";
    };
    const name = `${callers === 1 ? "1 caller" : `${callers} callers`}, ${way.name}`;
    return [name, ...cells(best, base), against(passing), against(theirs)];
  });
}

export async function latency(place: Place, options: Options) {
  const { ways } = place;
  const how = `the best of ${Math.min(options.runs, RUNS)} interleaved runs of each number, and ratios of these`;
  const where =
    "callers in one process, and one each for workerd, the double, Redis and the upstream, all on this machine: with 16 and 64 callers all its cores are busy, and calls/s tells what all of them together take of it";
  const columns = [
    "",
    "p50, ms",
    "p99, ms",
    "added p50, ms",
    "p50 x direct",
    "p99 x direct",
    "calls/s",
    "x direct",
  ];
  const wholes = (best: Sample, direct: Sample): Cell[] => [
    ...[best.p50_ms, best.p99_ms, best.p50_ms - direct.p50_ms],
    ...[best.p50_ms / direct.p50_ms, best.p99_ms / direct.p99_ms],
    ...[best.calls_per_s, best.calls_per_s / direct.calls_per_s],
  ];
  const firsts = (best: Sample, direct: Sample): Cell[] => [
    ...[best.first_p50_ms, best.first_p99_ms, best.first_p50_ms - direct.first_p50_ms],
    ...[best.first_p50_ms / direct.first_p50_ms, best.first_p99_ms / direct.first_p99_ms],
  ];
  const completions = await rowsOf(place, "completion", options);
  const more = ["calls/s x passing on", "calls/s x Portkey"];
  options.show({
    title: "A chat completion",
    columns: [...columns, ...more],
    rows: tableOf(completions, ways, wholes, "calls_per_s"),
    notes: [],
  });
  const streams = await rowsOf(place, "stream", options);
  options.show({
    title: "A stream of 24 tokens, whole",
    columns: [...columns, ...more],
    rows: tableOf(streams, ways, wholes, "calls_per_s"),
    notes: [],
  });
  options.show({
    title: "The same stream, its first byte",
    columns: [...columns.slice(0, 6), "p50 x passing on", "p50 x Portkey"],
    rows: tableOf(streams, ways, firsts, "first_p50_ms"),
    notes: [
      how,
      where,
      `${ways.note}; it is a proxy: no tenant, no funds, no lease, no Redis; and it waits 25 ms before a stream's first event`,
      "workerd, passing on: a Worker of one line in the same workerd, which knows nothing of what it carries",
    ],
  });
}
