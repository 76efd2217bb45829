// The verbs of a lease that is held against the model: renew, release, undo; and whole calls.
import assert from "node:assert/strict";
import { allocate } from "./allocate.ts";
import type { Lease, Model } from "./model.ts";
import { CREDENTIALS, type Operation, type PoolName } from "./operations.ts";
import { bench, conclude, isOutdated } from "./outcomes.ts";
import type { Effect } from "./view.ts";
import { note, type World } from "./world.ts";

interface Aim {
  readonly lease_id: string;
  readonly lease: Lease | undefined;
  readonly pool: PoolName;
  readonly credential: string;
}

/** Mostly a lease that is held, often one that is over, sometimes any id; mostly under its right name. */
function aimOf(model: Model, op: Operation<"renew" | "release" | "undo">): Aim {
  const known = [...model.records.values()];
  const held = known.filter((lease) => model.standing(lease) === "held");
  const from = op.pick < 65 && held.length > 0 ? held : known;
  const lease = op.pick < 90 ? from[op.pick % from.length] : model.records.get(op.lease);
  const { pool, credential } = op.right && lease ? lease : op;
  const named = credential === "-" ? op.credential : credential; // a spent id has none
  return { lease_id: lease?.id ?? op.lease, lease, pool, credential: named };
}

/** held, or why a holder who says this of its lease does not hold it. */
function standingOf(model: Model, { lease, pool, credential }: Aim): string {
  if (!lease) return "unknown";
  if (lease.pool !== pool || lease.credential !== credential) return "mismatch";
  return model.standing(lease);
}

export async function renew(world: World, op: Operation<"renew">): Promise<[Effect, PoolName]> {
  const { model } = world;
  const aim = aimOf(model, op);
  const reason = standingOf(model, aim);
  const reply = await world.verbs[aim.pool].renew(aim.lease_id, aim.credential, op.lease_ms);
  note("renew", reply);
  const { lease } = aim;
  if (lease && reason === "held") {
    const asked_ms = Math.min(model.now_ms + op.lease_ms, lease.max_expires_at_ms);
    lease.expires_at_ms = Math.max(lease.expires_at_ms, asked_ms);
    const { expires_at_ms, max_expires_at_ms } = lease;
    const expires_in_ms = expires_at_ms - model.now_ms;
    assert.deepEqual(reply, { kind: "renewed", expires_at_ms, expires_in_ms, max_expires_at_ms });
    return ["changed", aim.pool];
  }
  const pool = model.pools[aim.pool];
  const counted = pool.made && reason !== "mismatch";
  if (counted) pool.happened.lost++;
  const absent = !lease && !pool.made;
  assert.deepEqual(reply, absent ? { kind: "absent" } : { kind: "lease_lost", reason });
  return [counted ? "counted" : "nothing", aim.pool];
}

type Ending = Pick<Operation<"release">, "outcome" | "retry_after_ms">;

async function releaseOf(
  world: World,
  aim: Aim,
  { outcome, retry_after_ms }: Ending,
): Promise<[Effect, PoolName]> {
  const { model } = world;
  const { lease, pool } = aim;
  const reason = standingOf(model, aim);
  const reply = await world.verbs[pool].release(aim.lease_id, aim.credential, outcome, retry_after_ms);
  note("release", reply);
  if (!lease || reason !== "held") {
    const absent = !lease && !model.pools[pool].made;
    assert.deepEqual(reply, absent ? { kind: "absent" } : { kind: "not_released", reason });
    return ["nothing", pool];
  }
  assert.deepEqual(reply, { kind: "released" });
  lease.state = "released";
  model.pools[pool].happened.released++;
  model.remember(lease, model.now_ms);
  conclude(model, lease, outcome, retry_after_ms);
  return ["changed", pool];
}

export const release = (world: World, op: Operation<"release">) =>
  releaseOf(world, aimOf(world.model, op), op);

/** A whole call: on any credential, and its outcome at once. */
export async function call(world: World, op: Operation<"call">) {
  const ask = {
    candidates: CREDENTIALS,
    lease_ms: 5_000,
    print: "p1",
    borrowed: false,
    token: null,
  } as const;
  world.check(await allocate(world, { ...op, ...ask, verb: "allocate" }), op.pool);
  const lease = world.model.records.get(op.lease);
  if (lease && world.model.standing(lease) === "held") {
    world.model.step++;
    world.check(...(await releaseOf(world, { ...lease, lease_id: lease.id, lease }, op)));
  }
}

/** It does not name the credential: who never got the lease does not know it. */
export async function undo(world: World, op: Operation<"undo">): Promise<[Effect, PoolName]> {
  const { model } = world;
  const aim = aimOf(model, op);
  const { lease, pool } = aim;
  const reason = standingOf(model, { ...aim, credential: lease?.credential ?? "" });
  const reply = await world.verbs[pool].undo(aim.lease_id, op.bench_it, op.spend_ms);
  note("undo", reply);
  if (!lease || reason !== "held") {
    assert.deepEqual(reply, { kind: "not_held", reason });
    const spends = !lease && op.spend_ms > 0;
    if (spends) model.spend(aim.lease_id, pool, op.spend_ms);
    return [spends ? "changed" : "nothing", pool];
  }
  assert.deepEqual(reply, { kind: "undone" });
  lease.state = "undone";
  model.records.delete(lease.id);
  model.pools[pool].happened.granted--;
  const credential = model.pools[pool].credentials.get(lease.credential);
  if (credential && op.bench_it && !isOutdated(credential, lease)) bench(model, credential, "auth_failed", 0);
  return ["changed", pool];
}
