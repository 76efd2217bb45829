// Every path through the scripts of a lease that costs its own number of commands, and what it may cost.
import type { Path } from "../lib/commands.ts";
import { granted, idsOf, type Pool } from "../lib/pool.ts";

type Prepare = Path<Pool>["prepare"];
type Call = Path<Pool>["call"];

const SOON = 1; // ms: over before the call
const many = idsOf(32);
const five = many.slice(0, 5);
const four = many.slice(0, 4);
const one = many.slice(0, 1);
const [a = ""] = one;
const fifth = five[4] ?? "";
const leaseOf = (id: string) => `lease-${id}`;

const all =
  (...steps: Prepare[]): Prepare =>
  async (pool) => {
    for (const step of steps) await step(pool);
  };

const nothing: Prepare = async () => {};

const add =
  (ids: readonly string[], capacity = 1): Prepare =>
  (pool) =>
    pool.fill(ids, capacity);

/** Credentials of capacity 1, each with a lease of its own. */
const taken = (ids: string[], lease_ms?: number): Prepare =>
  all(add(ids), async (pool) => {
    for (const id of ids) await granted(pool, leaseOf(id), [id], lease_ms);
  });

/** Expired leases of a credential that is not asked for. */
const leftBehind = (count: number): Prepare =>
  all(add(["other"], count), async (pool) => {
    for (let i = 0; i < count; i++) await granted(pool, `old-${i}`, ["other"], SOON);
  });

/** So many failures of upstream that the breaker opens. */
const failed = (count: number): Prepare =>
  all(add(one, count), async (pool) => {
    for (let i = 0; i < count; i++) await granted(pool, `failed-${i}`, one);
    for (let i = 0; i < count; i++) await pool.release(`failed-${i}`, a, "upstream_error");
  });

const ask =
  (candidates: string[], lease_id = "new"): Call =>
  (pool) =>
    pool.allocate(lease_id, candidates);
const released: Call = (pool) => pool.release(leaseOf(a), a);

const path = (
  verb: string,
  name: string,
  bound: number | undefined,
  kind: string,
  prepare: Prepare,
  call: Call,
): Path<Pool> => ({ verb, path: name, bound, kind, prepare, call });

export const PATHS: readonly Path<Pool>[] = [
  path("allocate", "one of the first four is free", 6, "granted", add(many), ask(many)),
  path("allocate", "the fifth is free", 7, "granted", all(taken(four), add([fifth])), ask(five)),
  path("allocate", "reclaims", 10, "granted", taken(five, SOON), ask(five)),
  path("allocate", "replayed", 8, "granted", all(taken(one), add(one, 2)), ask(one, leaseOf(a))),
  path("allocate", "replayed, all full", 8, "granted", taken(five), ask(five, leaseOf(a))),
  path(
    "allocate",
    "replayed while it could reclaim",
    10,
    "granted",
    all(taken(four, SOON), taken([fifth])),
    ask(five, leaseOf(fifth)),
  ),
  path("allocate", "replayed, and over", 8, "lease_lost", all(taken(one), released), ask(one, leaseOf(a))),

  path("refused", "32 are full", 8, "no_capacity", taken(many), ask(many)),
  path("refused", "reclaims in vain", 8, "no_capacity", all(leftBehind(3), taken(five)), ask(five)),
  path("refused", "reclaims 64 in vain", 8, "reclaim_due", all(leftBehind(64), taken(five)), ask(five)),
  path("refused", "the breaker is open", 8, "breaker_open", failed(10), ask(one)),
  path("refused", "no such pool", 8, "absent", nothing, ask(one)),

  path("renew", "renewed", 5, "renewed", taken(one), (pool) => pool.renew(leaseOf(a), a)),
  path("renew", "lost", 5, "lease_lost", taken(one, SOON), (pool) => pool.renew(leaseOf(a), a)),

  path("release", "released", 7, "released", taken(one), released),
  path("release", "upstream failed", 7, "released", taken(one), (pool) =>
    pool.release(leaseOf(a), a, "upstream_error"),
  ),
  path("release", "late", 7, "not_released", taken(one, SOON), released),

  path("undo", "undone", undefined, "undone", taken(one), (pool) => pool.undo(leaseOf(a))),
  path("put", "the first of a pool", undefined, "created", nothing, (pool) => pool.put(a, 1)),
  path("put", "a further one", undefined, "created", add(["other"]), (pool) => pool.put(a, 1)),
  path("put", "another secret", undefined, "updated", add(one), (pool) =>
    pool.put(a, 1, { fingerprint: "another" }),
  ),
  path("put", "nothing new", undefined, "unchanged", add(one), (pool) => pool.put(a, 1)),
  path("patch", "another capacity", undefined, "patched", add(one), (pool) => pool.patch(a, 2)),
  path("mark", "disabled", undefined, "marked", add(one), (pool) => pool.mark(a)),
  path("revoke", "revoked", undefined, "revoked", taken(one), (pool) => pool.revoke(a)),
  path("configure", "configured", undefined, "configured", add(one), (pool) => pool.configure()),
  path("remove", "removed", undefined, "removed", add(one), (pool) => pool.remove(a)),
];
