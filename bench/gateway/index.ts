// `npm run bench -- gateway`: first the scripts of a call, then calls through the production bundle.
import type { Options, Report } from "../lib/benchmark.ts";
import { countCommands } from "../lib/commands.ts";
import { startDatabase } from "../lib/redis.ts";
import { cellOf } from "./calls.ts";
import { cost } from "./cost.ts";
import { PATHS } from "./paths.ts";

export async function run(options: Options): Promise<Report> {
  const db = await startDatabase(options.cleanup);
  const broken = await countCommands(db, options, PATHS, cellOf);
  await cost(db, options);
  return { redis: db.version, broken };
}
