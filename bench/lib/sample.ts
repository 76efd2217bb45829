// One sample of a pair of calls, to take and to give back: server time of each half, and throughput.
import { type Database, spentIn } from "./redis.ts";
import { inParallel } from "./timing.ts";

export const WIDTH = 64; // calls under way on the one connection
export const SENT = ["evalsha", "eval"];

export interface Sample {
  readonly take_us: number;
  readonly give_us: number;
  readonly pair_us: number;
  readonly pairs_per_s: number;
}

/** `prepare` is not measured; `take` and `give` are called with 0 to count - 1. */
export interface Subject {
  readonly name: string;
  /** The commands that it sends, unless it only runs scripts; none of them may be called in one, or it counts twice. */
  readonly sent?: readonly string[];
  readonly prepare: (count: number) => unknown;
  readonly take: (i: number) => Promise<unknown>;
  readonly give: (i: number) => Promise<unknown>;
}

export async function sample({ main }: Database, subject: Subject, count: number): Promise<Sample> {
  await subject.prepare(count);
  let seconds = 0;
  const phase = async (call: (i: number) => Promise<unknown>) => {
    const { server_us } = await spentIn(main, subject.sent ?? SENT, async () => {
      seconds += await inParallel(count, WIDTH, call);
    });
    return server_us / count;
  };
  const take_us = await phase(subject.take);
  const give_us = await phase(subject.give);
  return { take_us, give_us, pair_us: take_us + give_us, pairs_per_s: count / seconds };
}

export const columnOf = <S>(samples: readonly S[] | undefined, field: keyof S) =>
  (samples ?? []).map((one) => Number(one[field]));
