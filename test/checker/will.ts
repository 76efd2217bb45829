// A step of a history that must come out as it does, so that no history is played in vain.
import { expect } from "vitest";
import type { useRedis } from "../support/redis.ts";

export type Redis = ReturnType<typeof useRedis>;

/** Steps of the history, one after the other, that must come out like this. */
export async function will(kind: string, ...steps: (() => Promise<{ kind: unknown }>)[]) {
  for (const step of steps) expect((await step()).kind).toBe(kind);
}
