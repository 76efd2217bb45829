// The database under measurement: a private redis-server, direct connections, and its own account of its time.
import { Redis } from "ioredis";
import { startRedis } from "../../dev/redis.ts";
import { type Evaluator, NoScript } from "../../src/scripts/evaluator.ts";

export interface Database {
  /** One more connection; it ends with the database. */
  readonly connect: () => Redis;
  readonly main: Redis;
  readonly version: string;
}

export async function startDatabase(cleanup: AsyncDisposableStack): Promise<Database> {
  const server = await startRedis();
  cleanup.defer(() => server.stop());
  const connect = () => {
    const connection = new Redis(server.port, "127.0.0.1");
    cleanup.defer(() => connection.disconnect());
    return connection;
  };
  const main = connect();
  return { connect, main, version: await infoOf(main, "server", "redis_version") };
}

/** Scripts run on a connection with the text that stock Redis takes, nothing in between. */
export function evaluatorOn(connection: Redis): Evaluator {
  return {
    dialect: "redis",
    evalsha: async (sha, keys, args) => {
      try {
        return await connection.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        throw error instanceof Error && error.message.startsWith("NOSCRIPT") ? new NoScript() : error;
      }
    },
    eval: (source, keys, args) => connection.eval(source, keys.length, ...keys, ...args),
  };
}

export async function infoOf(redis: Redis, section: string, name: string): Promise<string> {
  const line = (await redis.info(section)).split("\r\n").find((text) => text.startsWith(`${name}:`));
  return line?.slice(name.length + 1) ?? "";
}

export interface Spent {
  /** Time in the server, of the commands that clients sent: a script's own commands are in the script's. */
  readonly server_us: number;
  /** Commands that scripts called, by name. */
  readonly inner: ReadonlyMap<string, number>;
}

/** What the server did while `work` went on. `sent` are the commands that clients send in it. */
export async function spentIn(
  redis: Redis,
  sent: readonly string[],
  work: () => Promise<unknown>,
): Promise<Spent> {
  await redis.config("RESETSTAT");
  await work();
  let server_us = 0;
  const inner = new Map<string, number>();
  for (const line of (await redis.info("commandstats")).split("\r\n")) {
    const [, name = "", calls, usec] = /^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/.exec(line) ?? [];
    if (sent.includes(name)) server_us += Number(usec);
    else if (name && !name.startsWith("config") && name !== "info") inner.set(name, Number(calls));
  }
  return { server_us, inner };
}
