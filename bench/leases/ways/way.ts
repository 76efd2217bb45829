// A way to hand out a limited number of units, as every caller sees it.
import { setTimeout as sleep } from "node:timers/promises";

/** One unit: what the way needs to take it back. */
export type Unit = string;

export interface Way {
  readonly name: string;
  /** Empties what it counts, for `units` units. */
  readonly prepare: (units: number) => Promise<unknown>;
  /** A unit, or undefined when all are in use. Throws GaveUp. `caller` is the number of who asks. */
  readonly take: (caller: number) => Promise<Unit | undefined>;
  readonly give: (caller: number, unit: Unit) => Promise<unknown>;
  /** How many units it believes to be in use. */
  readonly inUse: () => Promise<number>;
}

/** Not an answer: it could not find out in time. */
export class GaveUp extends Error {}

export const GIVE_UP_MS = 1_000;
const AGAIN_MS = 5;

/** Repeats `attempt` until it answers, after a wait of up to 5 ms at random; gives up after a second. */
export async function patiently<T>(attempt: () => Promise<T | "again">): Promise<T> {
  for (const began = performance.now(); performance.now() - began < GIVE_UP_MS; ) {
    const answer = await attempt();
    if (answer !== "again") return answer;
    await sleep(Math.random() * AGAIN_MS);
  }
  throw new GaveUp();
}
