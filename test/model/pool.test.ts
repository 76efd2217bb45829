// Random histories of a provider's pools agree with the model, and the raw keys with both, after every step.
// RUNS=20000 for longer; SEED=… repeats what a run printed.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allocate } from "./allocate.ts";
import { type Database, startDatabase } from "./database.ts";
import { call, release, renew, undo } from "./held.ts";
import { history, type Operation, settingsOf } from "./operations.ts";
import { configure, mark, patch, put, remove, revoke } from "./operators.ts";
import { WATCH } from "./view.ts";
import { seen, World } from "./world.ts";

const RUNS = Number(process.env.RUNS ?? 2_000);
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const RUN_MS = 150; // a bound for machines that do something else, too

let database: Database;
beforeAll(async () => {
  database = await startDatabase(WATCH);
});
afterAll(() => database.stop());

async function step(world: World, op: Operation) {
  const { model } = world;
  model.step++;
  switch (op.verb) {
    case "rest":
      return;
    case "wait":
      return world.wait(op.ms);
    case "until": {
      const end_ms = model.ends(op.end)[op.pick] ?? model.now_ms;
      return world.wait(Math.max(0, end_ms + op.off_ms - model.now_ms));
    }
    case "call":
      return call(world, op);
    case "renew":
      return world.check(...(await renew(world, op)));
    case "release":
      return world.check(...(await release(world, op)));
    case "undo":
      return world.check(...(await undo(world, op)));
    case "allocate":
      return world.check(await allocate(world, op), op.pool);
    case "put":
      return world.check(await put(world, op), op.pool);
    case "patch":
      return world.check(await patch(world, op), op.pool);
    case "mark":
      return world.check(await mark(world, op), op.pool);
    case "revoke":
      return world.check(await revoke(world, op), op.pool);
    case "remove":
      return world.check(await remove(world, op), op.pool);
    case "configure":
      return world.check(await configure(world, op), op.pool);
  }
}

const first = { verb: "put", pool: "default", config: "{}", seal: "k1.a", status: "available" } as const;
const START: Operation[] = [
  { ...first, credential: "c1", capacity: 1, print: "f1" },
  { ...first, credential: "c2", capacity: 3, print: "f2" },
  { ...first, credential: "c3", capacity: 1, print: "f3" },
];
const VIP: Operation = { ...first, pool: "vip", credential: "1e5", capacity: 2, print: "f4" };

/** Answers that the histories must have met, or they prove little. */
const MET =
  `allocate granted, allocate no_capacity, allocate breaker_open, allocate reclaim_due, allocate absent,
  replay granted, allocate conflict, allocate elsewhere,
  allocate lease_lost expired, allocate lease_lost released, allocate lease_lost revoked,
  renew renewed, renew absent, renew lease_lost expired, renew lease_lost released, renew lease_lost revoked,
  renew lease_lost mismatch, renew lease_lost unknown,
  release released, release absent, release not_released expired, release not_released released,
  release not_released revoked, release not_released mismatch, release not_released unknown,
  undo undone, undo not_held expired, undo not_held released, undo not_held revoked, undo not_held mismatch,
  undo not_held unknown, put created, put updated, put unchanged, put elsewhere,
  patch patched, patch stale, patch elsewhere, patch not_found, patch absent, mark marked, mark not_found, mark absent,
  revoke revoked, revoke not_found, revoke absent, remove removed, remove not_found, remove absent,
  configure configured, configure stale, configure absent`.split(/,\s+/);

test(`${RUNS} random histories of pools, seed ${SEED}`, { timeout: 60_000 + RUNS * RUN_MS }, async () => {
  console.log(`model: ${RUNS} runs, again with SEED=${SEED} RUNS=${RUNS}`);
  const agrees = fc.asyncProperty(history, async ({ settings, vip, reclaim_step, operations }) => {
    const own = { default: settingsOf(settings.default), vip: settingsOf(settings.vip) };
    const world = new World(database, own, reclaim_step);
    await world.start();
    for (const op of [...START, ...(vip ? [VIP] : []), ...operations]) await step(world, op);
  });
  await fc.assert(agrees, { numRuns: RUNS, seed: SEED, unbiased: true });
  if (RUNS >= 1_000) expect(MET.filter((answer) => !seen[answer])).toEqual([]);
});
