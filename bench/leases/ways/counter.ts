// Ways that keep one counter in Redis, from no protection at all to a script. None of them knows who holds a unit, so
// none can take back the unit of a caller that died.
import type { Redis } from "ioredis";
import { type Connections, locked, watched } from "../../lib/callers.ts";
import type { Way } from "./way.ts";

const COUNTER = "ways:in_use";
const LOCK = "ways:lock";

type Verbs = Pick<Way, "take" | "give">;

/** `verbs` makes a way from the number of units, which is known when it is prepared. */
function counted(name: string, connections: Connections, verbs: (units: () => number) => Verbs): Way {
  let units = 0;
  return {
    name,
    prepare: (count) => {
      units = count;
      return connections(0).del(COUNTER, LOCK);
    },
    inUse: async () => Number(await connections(0).get(COUNTER)),
    ...verbs(() => units),
  };
}

const unprotected = (connections: Connections, units: () => number): Verbs => ({
  take: async (caller) => {
    const redis = connections(caller);
    const in_use = Number(await redis.get(COUNTER));
    if (in_use >= units()) return undefined;
    await redis.set(COUNTER, in_use + 1);
    return "unit";
  },
  give: async (caller) => {
    const redis = connections(caller);
    await redis.set(COUNTER, Number(await redis.get(COUNTER)) - 1);
  },
});

/** Read, compare, write. */
export const naive = (connections: Connections) =>
  counted("GET, then SET", connections, (units) => unprotected(connections, units));

/** The same, written only if nobody wrote in between; else again. */
export const watch = (connections: Connections) => {
  const change = async (redis: Redis, by: number, most: number) => {
    const next = (in_use: number) => (in_use + by > most ? undefined : in_use + by);
    return (await watched(redis, COUNTER, next)) ? "unit" : undefined;
  };
  return counted("WATCH, MULTI, EXEC", connections, (units) => ({
    take: (caller) => change(connections(caller), 1, units()),
    give: (caller) => change(connections(caller), -1, units()),
  }));
};

/** The same under a lock. */
export const lock = (connections: Connections) =>
  counted("a lock (SET NX PX)", connections, (units) => {
    const { take, give } = unprotected(connections, units);
    return {
      take: (caller) => locked(connections(caller), LOCK, () => take(caller)),
      give: (caller, unit) => locked(connections(caller), LOCK, () => give(caller, unit)),
    };
  });

const TAKE = `local in_use = tonumber(redis.call("GET", KEYS[1]) or "0")
if in_use >= tonumber(ARGV[1]) then return 0 end
redis.call("SET", KEYS[1], in_use + 1)
return 1`;

/** The same in one script: what a lease adds to a counter shows beside it. */
export const script = (connections: Connections): Way => {
  let sha = "";
  const way = counted("Lua, the counter alone", connections, (units) => ({
    take: async (caller) => {
      const answer = await connections(caller).evalsha(sha, 1, COUNTER, units());
      return answer === 1 ? "unit" : undefined;
    },
    give: (caller) => connections(caller).decr(COUNTER),
  }));
  return {
    ...way,
    prepare: async (units) => {
      sha = String(await connections(0).script("LOAD", TAKE));
      return way.prepare(units);
    },
  };
};
