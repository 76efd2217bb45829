// The token bucket of @upstash/ratelimit on a direct connection: its own script, called by its own code.
import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "ioredis";
import { KEY_LOCKING } from "../../../src/scripts/define.ts";

type Client = ConstructorParameters<typeof Ratelimit>[0]["redis"];

/** Stock Redis refuses the first line of the library's scripts, so that they get another hash here. Nothing else is changed. */
function clientOn(connection: Redis): Client {
  const hashes = new Map<string, string>();
  const evalsha = (hash: string, keys: string[], args: unknown[]) =>
    connection.evalsha(hashes.get(hash) ?? hash, keys.length, ...keys, ...args.map(String));
  const load = async (hash: string, script: string) => {
    if (!script.startsWith(KEY_LOCKING)) throw new Error("the library's script begins in another way");
    hashes.set(hash, String(await connection.script("LOAD", script.slice(KEY_LOCKING.length))));
  };
  let missing = "";
  const client = {
    evalsha: (hash: string, keys: string[], args: unknown[]) => {
      if (!hashes.has(hash)) missing = hash;
      return evalsha(hash, keys, args);
    },
    eval: async (script: string, keys: string[], args: unknown[]) => {
      const hash = missing;
      await load(hash, script);
      return evalsha(hash, keys, args);
    },
  };
  return client as unknown as Client;
}

export function bucketOn(connection: Redis, tokens: number) {
  const limit = new Ratelimit({
    redis: clientOn(connection),
    limiter: Ratelimit.tokenBucket(tokens, "1 h", tokens),
    prefix: "bucket",
    ephemeralCache: false,
    timeout: 0,
  });
  return {
    take: async (caller: string, amount: number) => {
      const { success } = await limit.limit(caller, { rate: amount });
      if (!success) throw new Error("a bucket that is large enough refused");
    },
    /** Its way of giving back: a rate below zero. */
    give: (caller: string, amount: number) => limit.limit(caller, { rate: -amount }),
  };
}
