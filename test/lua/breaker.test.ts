// The pool's breaker on a real Redis: when it opens, what a probe decides, and that its unit comes back.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, granted } = leaseKit(redis);

describe("the breaker", () => {
  const fail = async (n: number) => {
    for (let i = 0; i < n; i++) {
      await granted(`f${i}-${redis.now_ms}`, ["a", "b"]);
      const [member] = await redis.raw.zrange(pool.leases_key, "0", "0");
      const [credential = "", , lease = ""] = (member ?? "").split(" ");
      await pool.release(lease, credential, "upstream_error", 1);
    }
  };

  test("opens after five failures in a row, lets one probe through, and opens longer when that fails", async () => {
    await pool.put("a", 10);
    await pool.put("b", 10);
    for (let i = 0; i < 5; i++) {
      await fail(1);
      await redis.later(1000); // past the short bench of each failure
    }
    expect(await pool.allocate("l1", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 14_000 });
    await redis.later(14_000);
    const probe = await granted("p1", ["a", "b"], 60_000);
    expect(await pool.allocate("l2", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 0 });
    await pool.release("p1", probe.credential, "upstream_error");
    expect(await pool.allocate("l2", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 30_000 });
    await redis.later(30_000);
    const second = await granted("p2", ["a", "b"], 60_000);
    await pool.release("p2", second.credential, "client_error"); // decides nothing, and gives its unit back
    const third = await granted("p3", ["a", "b"], 60_000);
    await pool.release("p3", third.credential, "success");
    for (const id of ["l3", "l4", "l5"]) expect((await pool.allocate(id, ["a", "b"])).kind).toBe("granted");
  });

  test("a probe whose lease expires gives its unit back", async () => {
    await pool.put("a", 10);
    for (let i = 0; i < 5; i++) {
      await fail(1);
      await redis.later(1000);
    }
    await redis.later(14_000);
    await granted("p1", ["a"], 1000);
    expect((await pool.allocate("l1", ["a"])).kind).toBe("breaker_open");
    await redis.later(1000);
    expect((await pool.allocate("l1", ["a"])).kind).toBe("granted");
  });
});
