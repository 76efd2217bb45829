// `npm run bench -- gateway`: first the scripts of a call, then calls through the production bundle, and in the end the books.
import { check } from "../../test/checker/check.ts";
import type { Options, Report } from "../lib/benchmark.ts";
import { countCommands } from "../lib/commands.ts";
import { startDatabase } from "../lib/redis.ts";
import { cellOf } from "./calls.ts";
import { cost } from "./cost.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { PATHS } from "./paths.ts";
import { CELL, startPlace } from "./place.ts";
import { trips } from "./trips.ts";

export async function run(options: Options): Promise<Report> {
  const db = await startDatabase(options.cleanup);
  const broken = await countCommands(db, options, PATHS, cellOf);
  await cost(db, options);
  await db.main.flushdb();
  const place = await startPlace(db, options);
  broken.push(...(await trips(db, place, options)));
  await latency(place, options);
  await memory(place, options);
  await place.idle();
  broken.push(...(await check(db.main, CELL, { now_ms: Date.now() })));
  return { redis: db.version, broken };
}
