// One history: the model, the service beside it, and the check after every step.
import assert from "node:assert/strict";
import type { PoolSettings } from "../../src/pools/settings.ts";
import { poolOf, type Pool as Verbs } from "../support/pool.ts";
import { keys } from "../support/redis.ts";
import { audit } from "./audit.ts";
import type { Database, ReclaimStep } from "./database.ts";
import { Model } from "./model.ts";
import { LEASES, type PoolName } from "./operations.ts";
import { checkEffect, type Effect, PROVIDER, type View, viewOf } from "./view.ts";

/** How often each answer was seen, over all histories: a generator that misses one proves nothing about it. */
export const seen: Record<string, number> = {};
export function note(verb: string, reply: { kind: string }) {
  const what = `${verb} ${reply.kind}${"reason" in reply ? ` ${reply.reason}` : ""}`;
  seen[what] = (seen[what] ?? 0) + 1;
}

export class World {
  readonly model: Model;
  readonly verbs: Record<PoolName, Verbs>;
  readonly reclaim_step: ReclaimStep;
  /** The raw keys as the last step left them. */
  view!: View;
  private readonly database: Database;

  constructor(database: Database, settings: Record<PoolName, PoolSettings>, reclaim_step: ReclaimStep) {
    const store = database.evaluators[reclaim_step];
    this.database = database;
    this.reclaim_step = reclaim_step;
    this.model = new Model(settings);
    this.verbs = {
      default: poolOf(() => store, PROVIDER, "default", settings.default),
      vip: poolOf(() => store, PROVIDER, "vip", settings.vip),
    };
  }

  async start() {
    await this.database.change(["FLUSHALL"], ["SET", "test:now_ms", String(this.model.now_ms)]);
    this.view = viewOf(this.database.watched());
  }

  /** Members of a pool whose term is over, first ones first. */
  expired = (pool: PoolName) =>
    this.view.pools[pool].members.filter(({ expires_at_ms }) => expires_at_ms <= this.model.now_ms);

  check(effect: Effect, pool: PoolName) {
    const gone = Math.min(this.reclaim_step, this.expired(pool).length);
    const before = this.view;
    this.view = viewOf(this.database.watched());
    checkEffect(effect, before, this.view, pool, gone);
    audit(this.model, this.view);
  }

  /** Moves the clock; keys whose end has passed go, as Redis would let them go. */
  async wait(ms: number) {
    assert(ms >= 0);
    this.model.wait(ms);
    const now_ms = this.model.now_ms;
    const leases = LEASES.map(keys.lease);
    const ends = leases.map((key) => ["PEXPIRETIME", key]);
    const [, ...ends_ms] = await this.database.change(["SET", "test:now_ms", String(now_ms)], ...ends);
    const over = leases.filter((_, i) => Number(ends_ms[i]) > 0 && Number(ends_ms[i]) <= now_ms);
    if (over.length > 0) await this.database.change(["DEL", ...over]);
    this.view = viewOf(this.database.watched());
    audit(this.model, this.view);
  }
}
