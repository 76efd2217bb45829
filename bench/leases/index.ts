// `npm run bench -- leases`: one redis-server, one measurement on it after the other.
import type { Options, Report } from "../lib/benchmark.ts";
import { countCommands } from "../lib/commands.ts";
import { poolOf } from "../lib/pool.ts";
import { startDatabase } from "../lib/redis.ts";
import { contention } from "./contention.ts";
import { cost } from "./cost.ts";
import { growth } from "./growth.ts";
import { list } from "./list.ts";
import { memory } from "./memory.ts";
import { PATHS } from "./paths.ts";

export async function run(options: Options): Promise<Report> {
  const db = await startDatabase(options.cleanup);
  const broken = await countCommands(db, options, PATHS, poolOf);
  await cost(db, options);
  await list(db, options);
  await growth(db, options);
  await contention(db, options);
  await memory(db, options); // the last: it empties the database
  return { redis: db.version, broken };
}
