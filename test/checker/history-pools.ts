// What a cell's pools can come to: leases that ended in every way, credentials that came and went, a breaker that opened.
import { defaultsOf } from "../../src/pools/settings.ts";
import { poolOf } from "../support/pool.ts";
import { type Redis, will } from "./will.ts";

/** A pool with leases that ended in every way, and one whose breaker lets a probe out. */
export async function playPools(redis: Redis) {
  const pool = poolOf(() => redis.store());
  await will(
    "created",
    () => pool.put("c1", 3),
    () => pool.put("c2", 2),
    () => pool.put("c3", 2, { fingerprint: "print-of-c2" }),
  );
  for (const id of ["l1", "l2", "l3"]) await will("granted", () => pool.allocate(id, ["c1"], 50_000));
  for (const id of ["l4", "l5"]) await will("granted", () => pool.allocate(id, ["c2"], 50_000));
  await will(
    "granted",
    () => pool.allocate("l6", ["c3"], 1_000),
    () => pool.allocate("l7", ["c3"], 50_000),
  );
  await will("released", () => pool.release("l1", "c1", "success"));
  await will("undone", () => pool.undo("l2"));
  await will("not_held", () => pool.undo("unknown", false, 60_000));
  await will("revoked", () => pool.revoke("c2"));
  await will("granted", () => pool.allocate("l8", ["c2"], 50_000));
  await will("removed", () => pool.remove("c3"));
  await will("created", () => pool.put("c3", 1));
  await will("updated", () => pool.put("c1", 1));
  await will("patched", () => pool.patch("c2", "{}", { capacity: "4" as never, config: '{"a":1}' }));
  await will("marked", () => pool.mark("c3", "disabled"));
  await will("granted", () => pool.allocate("l9", ["c2"], 10));
  await redis.later(1_000);
  await will("reclaimed", () => pool.reclaim());
  const settings = defaultsOf("vip");
  const vip = poolOf(() => redis.store(), "openai", "vip");
  await will("created", () => vip.put("v1", 5));
  await will("configured", () =>
    vip.configure({ ...settings, max_lifetime_seconds: 60, breaker: { ...settings.breaker, failures: 1 } }),
  );
  await will(
    "granted",
    () => vip.allocate("b1", ["v1"], 50_000),
    () => vip.allocate("b2", ["v1"], 50_000),
  );
  await will("released", () => vip.release("b1", "v1", "upstream_error"));
  await will("breaker_open", () => vip.allocate("b3", ["v1"], 50_000));
  await redis.later(settings.breaker.open_ms);
  await will("granted", () => vip.allocate("b3", ["v1"], 50_000));
}

/** Leases that are out now, the time having moved on. */
export async function playLeases(redis: Redis) {
  const pool = poolOf(() => redis.store());
  await will("granted", () => pool.allocate("n0", ["c2"], 10));
  await redis.later(10);
  await will("reclaimed", () => pool.reclaim());
  await will("granted", () => pool.allocate("n4", ["c2"]));
  await will("released", () => pool.release("n4", "c2", "success"));
  await will("not_held", () => pool.undo("spent", false, 60_000));
  await will(
    "granted",
    () => pool.allocate("n1", ["c2"], 50_000),
    () => pool.allocate("n2", ["c2"], 50_000),
  );
  await will("revoked", () => pool.revoke("c2"));
  await will("granted", () => pool.allocate("n3", ["c2"], 50_000));
  await will("created", () => pool.put("c4", 1, { fingerprint: "print-of-c2" })); // one secret, two credentials
}
