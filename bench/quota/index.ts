// `npm run bench -- quota`: one redis-server, one measurement on it after the other.
import type { Options, Report } from "../lib/benchmark.ts";
import { countCommands } from "../lib/commands.ts";
import { startDatabase } from "../lib/redis.ts";
import { cost } from "./cost.ts";
import { growth } from "./growth.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { overspend } from "./overspend.ts";
import { cellOf, PATHS } from "./paths.ts";

export async function run(options: Options): Promise<Report> {
  const db = await startDatabase(options.cleanup);
  const broken = await countCommands(db, options, PATHS, cellOf);
  await cost(db, options);
  broken.push(...(await growth(db, options)));
  broken.push(...(await overspend(db, options)));
  await latency(db, options);
  await memory(db, options); // the last: it empties the database
  return { redis: db.version, broken };
}
