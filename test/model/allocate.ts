// allocate against the model: who gets the next unit, and what the others are told.
import assert from "node:assert/strict";
import type { ReplyOf } from "../../src/scripts/define.ts";
import type { allocate as script } from "../../src/scripts/lease/allocate.ts";
import type { Lease, Pool } from "./model.ts";
import type { Operation } from "./operations.ts";
import type { Effect } from "./view.ts";
import { homeOfPool } from "./view.ts";
import { note, type World } from "./world.ts";

type Ask = Operation<"allocate">;
type Ends = Record<string, number>;
type Reply = ReplyOf<typeof script.replies>;
type Granted = Extract<Reply, { kind: "granted" }>;

const secretOf = (pool: Pool, id: string) => {
  const { print, seal } = pool.credentials.get(id) ?? {};
  return `${print} ${seal}`;
};

/** What a known id is told, whatever the pool has. */
function again({ model }: World, ask: Ask, lease: Lease): Reply {
  if (lease.print !== ask.print) return { kind: "conflict" };
  if (lease.pool !== ask.pool) return { kind: "elsewhere", home: homeOfPool(lease.pool) };
  const reason = model.standing(lease);
  if (reason === "undone") throw new Error("an undone lease has no record");
  if (reason !== "held") return { kind: "lease_lost", reason };
  const { credential, fence, expires_at_ms, max_expires_at_ms } = lease;
  return {
    kind: "granted",
    credential,
    fence,
    expires_at_ms,
    expires_in_ms: expires_at_ms - model.now_ms,
    max_expires_at_ms,
    secret: secretOf(model.pools[lease.pool], credential),
    replayed: true,
  };
}

/** Until the first bench of a candidate, or the first lease, ends; a call that swept does not look at the leases. */
function dueIn(world: World, pool: Pool, benched: string[]): number {
  const { model } = world;
  const benches = benched.map((id) => pool.credentials.get(id)?.until_ms ?? 0);
  const terms = model.leases
    .filter((lease) => lease.pool === pool.name && (lease.state === "held" || lease.state === "revoked"))
    .map(({ expires_at_ms }) => expires_at_ms);
  const ends = [...benches, ...(world.expired(pool.name).length > 0 ? [] : terms)];
  const ahead = ends.filter((time_ms) => time_ms > model.now_ms);
  return ahead.length > 0 ? Math.min(...ahead) - model.now_ms : 0;
}

/** The refusal that is due, and the event it counts as; undefined when a unit must be given. */
function refusal(world: World, pool: Pool, ask: Ask, ends: Ends) {
  const { model } = world;
  if (model.blocks(pool)) {
    const due = pool.settings.breaker.mode === "open" ? 0 : pool.breaker.open_until_ms - model.now_ms;
    return { event: "blocked" as const, reply: { kind: "breaker_open", due_in_ms: Math.max(0, due) } };
  }
  const { reserved_capacity } = pool.settings;
  const left = pool.capacity - model.held(pool.name).length;
  const reserved = ask.borrowed && reserved_capacity > 0 && left <= reserved_capacity;
  const whys = ask.candidates.map((id) => (reserved ? "reserved" : model.whyNot(pool, id, ends[id])));
  if (whys.includes(undefined)) return undefined;
  const reasons: Record<string, number> = {};
  for (const why of whys) reasons[String(why)] = (reasons[String(why)] ?? 0) + 1;
  const benched = ask.candidates.filter(
    (_, i) => whys[i] === pool.credentials.get(ask.candidates[i] ?? "")?.status,
  );
  const due_in_ms = dueIn(world, pool, benched);
  return {
    event: reserved ? ("reserved" as const) : ("refused" as const),
    reply: { kind: "no_capacity", due_in_ms, reasons, seq: pool.changes },
  };
}

/** Those asked before the chosen one give nothing, but for units that expired leases may still hold. */
function checkChoice({ model }: World, pool: Pool, ask: Ask, ends: Ends, chosen: string) {
  const at = ask.candidates.indexOf(chosen);
  assert(at >= 0 && model.whyNot(pool, chosen, ends[chosen]) === undefined, `${chosen} is free`);
  for (const id of ask.candidates.slice(0, at)) {
    const units = model.held(pool.name, id).length + model.overdue(pool.name, id).length;
    const free = model.whyNot(pool, id, ends[id]) === undefined;
    assert(!free || units >= (pool.credentials.get(id)?.capacity ?? 0), `${id} comes before ${chosen}`);
  }
}

function grant({ model }: World, pool: Pool, ask: Ask, ends: Ends, { credential, fence }: Granted): Reply {
  const now_ms = model.now_ms;
  const lifetime_ends = now_ms + pool.settings.max_lifetime_seconds * 1000;
  const max_expires_at_ms = Math.min(lifetime_ends, ends[credential] ?? lifetime_ends);
  const expires_at_ms = Math.min(now_ms + ask.lease_ms, max_expires_at_ms);
  assert(fence > pool.last_fence, "fences only grow");
  pool.last_fence = fence;
  pool.happened.granted++;
  Object.assign(pool.credentials.get(credential) ?? {}, {
    status: "available",
    until_ms: 0,
    used_at_ms: now_ms,
  });
  const lease: Lease = {
    id: ask.lease,
    pool: pool.name,
    credential,
    print: ask.print,
    fence,
    granted_step: model.step,
    granted_at_ms: now_ms,
    max_expires_at_ms,
    expires_at_ms,
    state: "held",
    remembered_until_ms: 0,
  };
  model.leases.push(lease);
  model.remember(lease, max_expires_at_ms);
  const expires_in_ms = expires_at_ms - now_ms;
  const secret = secretOf(pool, credential);
  return {
    kind: "granted",
    credential,
    fence,
    expires_at_ms,
    expires_in_ms,
    max_expires_at_ms,
    secret,
    replayed: false,
  };
}

function settle(world: World, ask: Ask, ends: Ends, reply: Reply): Effect {
  const { model } = world;
  const pool = model.pools[ask.pool];
  const known = model.records.get(ask.lease);
  if (!pool.made || known) {
    assert.deepEqual(reply, pool.made && known ? again(world, ask, known) : { kind: "absent" });
    return "nothing";
  }
  const refused = refusal(world, pool, ask, ends);
  if (refused) {
    assert.deepEqual(reply, refused.reply);
    pool.happened[refused.event]++;
    return "swept";
  }
  assert(reply.kind === "granted", `a unit is free, and the answer is ${JSON.stringify(reply)}`);
  checkChoice(world, pool, ask, ends, reply.credential);
  assert.deepEqual(reply, grant(world, pool, ask, ends, reply));
  return "changed";
}

export async function allocate(world: World, ask: Ask): Promise<Effect> {
  const { pool, lease, candidates, lease_ms, print, borrowed, token } = ask;
  const ends: Ends = token ? { [token.credential]: world.model.now_ms + token.in_ms } : {};
  for (;;) {
    const reply = await world.verbs[pool].allocate(lease, candidates, lease_ms, print, { ends, borrowed });
    note(reply.kind === "granted" && reply.replayed ? "replay" : "allocate", reply);
    if (reply.kind !== "reclaim_due") return settle(world, ask, ends, reply);
    assert(!world.model.records.has(lease) && world.expired(pool).length >= world.reclaim_step);
    world.check("swept", pool);
  }
}
