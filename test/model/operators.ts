// The operators' verbs against the model: put, patch, mark, revoke, remove, configure.
import assert from "node:assert/strict";
import type { Credential, Model, Pool } from "./model.ts";
import { type Operation, POOLS, settingsOf } from "./operations.ts";
import type { Effect } from "./view.ts";
import { note, type World } from "./world.ts";

/** Where the id or the secret is already, when that is another pool. */
function elsewhere(model: Model, pool: Pool, id: string, print?: string) {
  const others = POOLS.map((name) => model.pools[name]).filter((other) => other !== pool);
  const withId = others.find(({ credentials }) => credentials.has(id));
  if (withId) return { kind: "elsewhere", what: "key_id", pool: withId.name };
  const withSecret = others.find(({ credentials }) =>
    [...credentials.values()].some((c) => c.print === print),
  );
  return withSecret && { kind: "elsewhere", what: "secret", pool: withSecret.name };
}

/** A new secret ends what the old one was benched for; leases that still have the old one know nothing of it. */
function give({ step }: Model, credential: Credential, { print, seal }: { print: string; seal: string }) {
  const renewed = credential.print !== print;
  const healed = renewed && ["auth_failed", "exhausted"].includes(credential.status);
  if (healed) Object.assign(credential, { status: "available", until_ms: 0, errors: 0 });
  if (renewed) credential.benched_step = step;
  Object.assign(credential, { print, seal });
}

const sealingKey = (seal: string) => seal.split(".")[0];

const newCredential = ({ status, print, seal, capacity, config }: Operation<"put">): Credential => ({
  capacity,
  config,
  print,
  seal,
  status,
  until_ms: 0,
  benched_step: 0,
  errors: 0,
  success: -1,
  used_at_ms: 0,
  limited_at_ms: 0,
});

export async function put(world: World, op: Operation<"put">): Promise<Effect> {
  const { model } = world;
  const pool = model.pools[op.pool];
  const { capacity, config, print, seal, status } = op;
  const more = { status, config, fingerprint: print, sealed: seal };
  const reply = await world.verbs[op.pool].put(op.credential, capacity, more);
  note("put", reply);
  const taken = elsewhere(model, pool, op.credential, print);
  const known = pool.credentials.get(op.credential);
  const same =
    known?.capacity === capacity &&
    known.config === config &&
    known.print === print &&
    sealingKey(known.seal) === sealingKey(seal);
  if (taken || same) {
    assert.deepEqual(reply, taken ?? { kind: "unchanged" });
    return "nothing";
  }
  assert.deepEqual(reply, { kind: known ? "updated" : "created" });
  if (!pool.made) {
    pool.made_at_ms = model.now_ms;
    pool.last_fence = model.now_ms * 1000;
  }
  if (known) {
    Object.assign(known, { capacity, config });
    give(model, known, op);
  } else pool.credentials.set(op.credential, newCredential(op));
  pool.changes++;
  return "changed";
}

/** The answer to a verb on a credential that is not there. */
const missing = (pool: Pool) => ({ kind: pool.made ? "not_found" : "absent" });

export async function patch(world: World, op: Operation<"patch">): Promise<Effect> {
  const { model } = world;
  const pool = model.pools[op.pool];
  const known = pool.credentials.get(op.credential);
  const before = op.right && known ? known.config : "{stale}";
  const secret = op.secret && { fingerprint: op.secret.print, sealed: op.secret.seal };
  const capacity = op.capacity === null ? {} : { capacity: op.capacity };
  const change = { config: op.config, ...capacity, ...secret };
  const reply = await world.verbs[op.pool].patch(op.credential, before, change);
  note("patch", reply);
  const taken = op.right ? elsewhere(model, pool, op.credential, op.secret?.print) : { kind: "stale" };
  if (!known || taken) {
    assert.deepEqual(reply, known ? taken : missing(pool));
    return "nothing";
  }
  assert.deepEqual(reply, { kind: "patched" });
  Object.assign(known, { config: op.config, ...capacity });
  if (op.secret) give(model, known, op.secret);
  pool.changes++;
  return "changed";
}

export async function mark(world: World, op: Operation<"mark">): Promise<Effect> {
  const { model } = world;
  const pool = model.pools[op.pool];
  const known = pool.credentials.get(op.credential);
  const reply = await world.verbs[op.pool].mark(op.credential, op.status);
  note("mark", reply);
  if (!known) {
    assert.deepEqual(reply, missing(pool));
    return "nothing";
  }
  const changed = known.status !== op.status || known.until_ms > 0 || known.errors > 0;
  const { in_flight } = reply.kind === "marked" ? reply : { in_flight: -1 };
  assert.deepEqual(reply, { kind: "marked", in_flight, changed });
  const held = model.held(op.pool, op.credential).length;
  assert(in_flight >= held && in_flight <= held + model.overdue(op.pool, op.credential).length);
  if (!changed) return "nothing";
  Object.assign(known, { status: op.status, until_ms: 0, errors: 0, benched_step: model.step });
  pool.changes++;
  return "changed";
}

/** How many leases an operator ended: those held, and those whose term passed unnoticed. */
function checkEnded({ model }: World, { pool, credential }: Operation<"revoke" | "remove">, ended: number) {
  const held = model.held(pool, credential).length;
  assert(ended >= held && ended <= held + model.overdue(pool, credential).length);
  model.pools[pool].happened.revoked += ended;
  model.pools[pool].changes++;
  model.revoke(pool, credential);
}

export async function revoke(world: World, op: Operation<"revoke">): Promise<Effect> {
  const pool = world.model.pools[op.pool];
  const reply = await world.verbs[op.pool].revoke(op.credential);
  note("revoke", reply);
  if (!pool.credentials.has(op.credential)) {
    assert.deepEqual(reply, missing(pool));
    return "nothing";
  }
  assert(reply.kind === "revoked");
  checkEnded(world, op, reply.ended);
  return "changed";
}

export async function remove(world: World, op: Operation<"remove">): Promise<Effect> {
  const pool = world.model.pools[op.pool];
  const reply = await world.verbs[op.pool].remove(op.credential);
  note("remove", reply);
  if (!pool.credentials.has(op.credential)) {
    assert.deepEqual(reply, missing(pool));
    return "nothing";
  }
  assert(reply.kind === "removed");
  checkEnded(world, op, reply.ended);
  pool.credentials.delete(op.credential);
  return "changed";
}

export async function configure(world: World, op: Operation<"configure">): Promise<Effect> {
  const pool = world.model.pools[op.pool];
  const before = op.right ? pool.settings_text : "{stale}";
  const settings = settingsOf(op.settings);
  const reply = await world.verbs[op.pool].configure(settings, before);
  note("configure", reply);
  if (!pool.made || !op.right) {
    assert.deepEqual(reply, { kind: pool.made ? "stale" : "absent" });
    return "nothing";
  }
  assert.deepEqual(reply, { kind: "configured" });
  pool.settings = settings;
  pool.settings_text = JSON.stringify(settings);
  pool.changes++;
  return "changed";
}
