// Who is asked at all, and who comes after whom: room, what is not in the sample, full, benched; a caller's own by its affinity key.
import { describe, expect, test } from "vitest";
import { serves } from "../../src/leases/rank.ts";
import { candidate, chance, firsts, NOW_MS, order, snapshot, some, state } from "./rank-kit.ts";

const STRATEGIES = ["score", "least_in_flight", "weighted_random", "round_robin"] as const;
const full = { in_flight: 10 };
const over = { status: "rate_limited", until_ms: NOW_MS } as const;
const benched = { status: "rate_limited", until_ms: NOW_MS + 1 } as const;
const busy = { in_flight: 9, used_at_ms: NOW_MS, success: 0, errors: 9 };
const keysOf = (count: number) => Array.from({ length: count }, (_, i) => `user-${i}`);

describe.each(STRATEGIES)("%s", (strategy) => {
  const asked = (...pool: Parameters<typeof order>[0]) => order(pool, { strategy });

  test("room first, then what is not in the sample, then full ones, benched ones last", () => {
    const pool = [candidate("benched", benched), candidate("full", full), candidate("unknown", "unknown")];
    for (let i = 0; i < 50; i++)
      expect(asked(...pool, candidate("busy", busy))).toEqual(["busy", "unknown", "full", "benched"]);
  });

  test.each(["pending", "auth_failed", "disabled"] as const)("%s is benched without an end", (status) => {
    for (let i = 0; i < 20; i++)
      expect(asked(candidate("out", { status }), candidate("full", full))).toEqual(["full", "out"]);
  });
});

describe("a bench that has ended", () => {
  test("no longer counts, unless the pool waits for a probe", () => {
    const pool = [candidate("full", full), candidate("over", over)];
    expect(order(pool)).toEqual(["over", "full"]);
    expect(order(pool, { recovery: "probe" })).toEqual(["full", "over"]);
  });

  test("one that is free is asked although many more cannot be", () => {
    const free = candidate("free", busy);
    const expired = some(100).map((one) => ({
      ...one,
      config: { ...one.config, token_expires_at_ms: NOW_MS },
    }));
    expect(order([...some(100, benched), free])[0]).toBe("free");
    expect(order([...some(100, over), free], { recovery: "probe" })[0]).toBe("free");
    expect(order([...some(100, full), free])[0]).toBe("free");
    expect(order([...some(100, "unknown"), free])[0]).toBe("free");
    expect(order([...expired, free])[0]).toBe("free");
  });

  test("a token that still lives serves", () => {
    const alive = candidate("alive", {}, { token_expires_at_ms: NOW_MS + 1 });
    expect(order([candidate("full", full), alive])).toEqual(["alive", "full"]);
  });
});

describe("affinity", () => {
  const first = (pool: Parameters<typeof order>[0], affinity_key: string) =>
    order(pool, {}, { affinity_key })[0];

  test("the same order for a key each time, whatever the strategy and the state", () => {
    const pool = some(20);
    const worn = pool.map((one, i) => candidate(one.key_id, i % 2 ? busy : {}));
    const ids = order(pool, {}, { affinity_key: "user-1" });
    for (const strategy of STRATEGIES) {
      expect(order(pool.toReversed(), { strategy }, { affinity_key: "user-1" })).toEqual(ids);
      expect(order(worn, { strategy }, { affinity_key: "user-1" })).toEqual(ids);
    }
    expect(new Set(keysOf(200).map((key) => first(pool, key))).size).toBe(20);
  });

  test("an empty key is none", () => {
    expect(Object.keys(firsts(200, () => order(some(3), {}, { affinity_key: "" })))).toHaveLength(3);
  });

  test("a credential that goes moves only its own keys, to where each would have gone next", () => {
    const pool = some(10);
    const left = pool.filter(({ key_id }) => key_id !== "k3");
    let moved = 0;
    for (const affinity_key of keysOf(2_000)) {
      const before = order(pool, {}, { affinity_key });
      expect(order(left, {}, { affinity_key })).toEqual(before.filter((id) => id !== "k3"));
      if (before[0] === "k3") moved++;
    }
    expect(moved).toBeGreaterThan(140);
    expect(moved).toBeLessThan(260);
  });

  test("shares follow the weights over 20,000 keys", () => {
    const weights = [0.5, 1, 1, 2.5, 5];
    const pool = weights.map((weight, i) => candidate(`k${i}`, {}, { weight }));
    const keys = keysOf(20_000);
    const shares = firsts(keys.length, (i) => order(pool, {}, { affinity_key: keys[i] }));
    for (const [i, weight] of weights.entries())
      expect(Math.abs((shares[`k${i}`] ?? 0) - weight / 10)).toBeLessThan(0.01);
  });

  test("its own comes first though it is full, and not while it is benched", () => {
    const ids = order(some(5), {}, { affinity_key: "user-1" });
    const with_first = (state: Parameters<typeof candidate>[1]) =>
      ids.map((id) => candidate(id, id === ids[0] ? state : {}));
    expect(order(with_first(full), {}, { affinity_key: "user-1" })).toEqual(ids);
    expect(order(with_first("unknown"), {}, { affinity_key: "user-1" })).toEqual(ids);
    expect(order(with_first(over), {}, { affinity_key: "user-1" })).toEqual(ids);
    expect(order(with_first(benched), {}, { affinity_key: "user-1" })).toEqual([...ids.slice(1), ids[0]]);
  });

  test("in a pool with more than fit, half of those asked have room", () => {
    const pool = [...some(200, full), candidate("free", busy), candidate("spare", busy)];
    for (const affinity_key of keysOf(50)) {
      const own = order(some(200, full), { candidates: 16 }, { affinity_key });
      const asked = order(pool, { candidates: 32 }, { affinity_key });
      expect(asked).toHaveLength(32);
      expect(asked).toEqual(expect.arrayContaining(["free", "spare"]));
      expect(asked.filter((id) => own.slice(0, 8).includes(id))).toHaveLength(8);
    }
  });
});

describe("who is asked at all", () => {
  test("those that serve the model: by name, any, and never by a property that all objects have", () => {
    const pool = [
      candidate("gpt", {}, { models: { "gpt-5": "gpt-5-2026" } }),
      candidate("any", {}, { models: ["*"] }),
      candidate("star", {}, { models: { "*": "x" } }),
    ];
    const asked = (model: string) => order(pool, {}, { model }).sort();
    expect(asked("gpt-5")).toEqual(["any", "gpt"]);
    for (const model of ["__proto__", "constructor", "toString", "hasOwnProperty", "GPT-5", ""])
      expect([model, asked(model)]).toEqual([model, ["any"]]);
    expect(serves(snapshot(pool.slice(0, 1)), "gpt-5")).toBe(true);
    expect(serves(snapshot(pool.slice(0, 1)), "constructor")).toBe(false);
  });

  test("at most the pool's `candidates`", () => {
    expect(order(some(100))).toHaveLength(32);
    expect(order(some(100), { candidates: 3 })).toHaveLength(3);
    expect(order(some(2), { candidates: 3 })).toHaveLength(2);
    expect(order([])).toEqual([]);
  });
});

describe("ten callers on five equal fresh credentials", () => {
  test("of isolates that know nothing of each other: spread by chance", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const callers = Array.from({ length: 10 }, (_, i) => chance(100 * seed + i));
      const first = new Set(callers.map((random) => order(some(5), {}, { random })[0]));
      expect(first.size).toBeGreaterThanOrEqual(3);
    }
  });

  test("of one isolate that notes its own grants: two on each", () => {
    const pool = some(5);
    for (let i = 0; i < 10; i++) {
      const [first] = order(pool);
      const chosen = pool.find(({ key_id }) => key_id === first);
      if (chosen) chosen.state = state({ in_flight: (chosen.state?.in_flight ?? 0) + 1, used_at_ms: NOW_MS });
    }
    expect(pool.map((one) => one.state?.in_flight)).toEqual([2, 2, 2, 2, 2]);
  });
});
