// A library that was written for the real service runs against the double, and counts exactly.
import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

type Algorithm = ReturnType<typeof Ratelimit.fixedWindow>;

/** As its users build it: every option of the client at its default. */
const limiter = (prefix: string, algorithm: Algorithm) =>
  new Ratelimit({
    redis: new Redis({ url: rig.double.url, token: rig.double.token }),
    limiter: algorithm,
    prefix,
    ephemeralCache: false,
  });

const ALGORITHMS: [string, Algorithm][] = [
  ["fixed window", Ratelimit.fixedWindow(7, "1 h")],
  ["sliding window", Ratelimit.slidingWindow(7, "1 h")],
  ["token bucket", Ratelimit.tokenBucket(7, "1 h", 7)],
];

test.each(ALGORITHMS)("%s: of 20 at once exactly 7 pass, each caller for itself", async (name, algorithm) => {
  const limit = limiter(name, algorithm);
  const passed = async (caller: string) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => limit.limit(caller)));
    return answers.filter(({ success }) => success).length;
  };
  expect(await Promise.all([passed("a"), passed("b")])).toEqual([7, 7]);
  expect(await limit.limit("a")).toMatchObject({ success: false, remaining: 0 });
});

test("a lost script cache is healed by the library's own NOSCRIPT path", async () => {
  const limit = limiter("flush", Ratelimit.fixedWindow(2, "1 h"));
  expect((await limit.limit("a")).success).toBe(true);
  rig.double.fault({ kind: "script_flush", match: ([name]) => name?.toLowerCase() === "evalsha" });
  expect((await limit.limit("a")).success).toBe(true);
  expect((await limit.limit("a")).success).toBe(false);
});
