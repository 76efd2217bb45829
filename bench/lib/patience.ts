// How long a way of doing it may look for an answer before it counts as having none.
import { setTimeout as sleep } from "node:timers/promises";

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
