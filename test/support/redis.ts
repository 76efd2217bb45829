// A redis-server of a test file's own behind the Upstash double, and the Store that production code runs scripts on.
import { Redis as Upstash } from "@upstash/redis/cloudflare";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { startRedis } from "../../dev/redis.ts";
import { startUpstash } from "../../dev/upstash/server.ts";
import { keysOf } from "../../src/keys.ts";
import type { Dialect } from "../../src/scripts/define.ts";
import { CLIENT, Deadline, Store } from "../../src/store.ts";

export const keys = keysOf("test");

/** Redis for this file; emptied before each test. `now_ms` is frozen: `at` moves it, and ends what ends in between. */
export function useRedis() {
  const started = async () => {
    const server = await startRedis();
    const double = await startUpstash({ redisPort: server.port });
    const raw = new Redis(server.port);
    raw.on("error", () => undefined); // a test stops this server; the client comes back with it
    return { server, double, raw };
  };
  let own: Awaited<ReturnType<typeof started>>;
  let now_ms = 0;
  const redis = {
    get raw() {
      return own.raw;
    },
    get double() {
      return own.double;
    },
    get server() {
      return own.server;
    },
    get now_ms() {
      return now_ms;
    },
    /** Moves the time that scripts see; keys whose end has passed go, as they would. */
    async at(time_ms: number) {
      now_ms = time_ms;
      await own.raw.set("test:now_ms", time_ms);
      const all = await own.raw.keys("{*");
      const ends_ms = await Promise.all(all.map((key) => own.raw.pexpiretime(key)));
      const over = all.filter((_, i) => Number(ends_ms[i]) > 0 && Number(ends_ms[i]) <= time_ms);
      if (over.length > 0) await own.raw.del(...over);
    },
    later: (ms: number) => redis.at(now_ms + ms),
    store: (dialect: Dialect = "upstash") => storeAt(own.double.url, own.double.token, dialect),
  };
  beforeAll(async () => {
    own = await started();
  });
  beforeEach(async () => {
    own.double.clearFaults();
    await own.raw.flushall();
    await redis.at(Date.now() + 1000);
  });
  afterAll(async () => {
    own.raw.disconnect();
    await own.double.stop();
    await own.server.stop();
  });
  return redis;
}

export function storeAt(url: string, token: string, dialect: Dialect = "upstash", timeout_ms = 2_000) {
  const deadline = new Deadline(600_000, timeout_ms);
  const client = new Upstash({
    url,
    token,
    ...CLIENT,
    signal: deadline.signal,
  });
  return new Store(client, dialect, deadline);
}
