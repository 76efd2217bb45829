// The pool's breaker when it lets probes through, on a real Redis: its budget, whatever a probe ends in, and its modes.
import { describe, expect, test } from "vitest";
import { poolPatch } from "../../src/pools/settings.ts";
import { useRedis } from "../support/redis.ts";
import { healthKit, settingsOf } from "./health-kit.ts";

const redis = useRedis();
const kitOf = (breaker: Parameters<typeof settingsOf>[0]["breaker"]) =>
  healthKit(redis, settingsOf({ breaker: { failures: 2, ...breaker }, cooldowns: { errors_from: 1_000 } }));
type Kit = ReturnType<typeof kitOf>;

/** Two failures open it; its time is over now. */
async function halfOpen(kit: Kit) {
  await kit.pool.put("c1", 100);
  await kit.pool.put("c2", 100);
  for (const id of ["c1", "c2"]) await kit.call(id, "upstream_error");
  expect(await kit.serves("c1")).toBe("breaker_open");
  await redis.later(15_000);
}

describe("case B19: whatever a probe ends in, its unit comes back", () => {
  const ends: [string, (kit: Kit) => Promise<unknown>][] = [
    ["client_error", async (kit) => (await kit.hold("c1")).end("client_error")],
    ["cancelled", async (kit) => (await kit.hold("c1")).end("cancelled")],
    ["no outcome", async (kit) => (await kit.hold("c1")).end("")],
    ["rate_limited", async (kit) => (await kit.hold("c2")).end("rate_limited")],
    ["auth_failed", async (kit) => (await kit.hold("c2")).end("auth_failed")],
    ["exhausted", async (kit) => (await kit.hold("c2")).end("exhausted")],
    ["undo", async (kit) => kit.pool.undo((await kit.hold("c1")).lease_id)],
    ["undo and bench", async (kit) => kit.pool.undo((await kit.hold("c2")).lease_id, true)],
    ["expiry", async (kit) => kit.hold("c1").then(() => redis.later(3_600_000))],
    [
      "revocation, at its term",
      async (kit) => {
        await kit.hold("c2");
        await kit.pool.revoke("c2");
        expect(await kit.serves("c1")).toBe("breaker_open"); // it is still out there
        await redis.later(3_600_000);
      },
    ],
    [
      "removal, at its term",
      async (kit) => {
        await kit.hold("c2");
        await kit.pool.remove("c2");
        await redis.later(3_600_000);
      },
    ],
  ];
  test.each(ends)("%s", async (_name, end) => {
    const kit = kitOf({});
    await halfOpen(kit);
    await end(kit);
    const probe = await kit.hold("nobody", "gone", "never", "ghost", "c1"); // behind the first read, too
    expect(await kit.serves("c1")).toBe("breaker_open");
    await probe.end("success");
    expect(await kit.serves("c1")).toBe("granted");
  });
});

describe("case B19: the budget", () => {
  test.each([1, 3])(
    "of %d: so many of 50 parallel callers pass, and each that comes back lets one more",
    async (probes) => {
      const kit = kitOf({ probes });
      await halfOpen(kit);
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) => kit.pool.allocate(`caller-${i}`, ["c1", "c2"])),
      );
      const granted = replies.filter(({ kind }) => kind === "granted");
      const blocked = replies.filter(({ kind }) => kind === "breaker_open");
      expect([granted.length, blocked.length]).toEqual([probes, 50 - probes]);
      expect(blocked[0]).toEqual({ kind: "breaker_open", due_in_ms: 0 });
      const [first] = replies.flatMap((one, i) =>
        one.kind === "granted" ? [{ id: `caller-${i}`, ...one }] : [],
      );
      await kit.pool.release(first?.id ?? "", first?.credential ?? "", "cancelled");
      expect((await kit.pool.allocate("next", ["c1"])).kind).toBe("granted");
      expect((await kit.pool.allocate("after", ["c1"])).kind).toBe("breaker_open");
    },
  );

  test("of 0 is refused as configuration", () => {
    expect(poolPatch.safeParse({ breaker: { probes: 0 } }).success).toBe(false);
    expect(poolPatch.safeParse({ breaker: { probes: 1 } }).success).toBe(true);
  });

  test("a failed probe opens it longer and takes the other probes out of the count; a success closes it", async () => {
    const kit = kitOf({ probes: 2 });
    await halfOpen(kit);
    const [one, two] = [await kit.hold("c1"), await kit.hold("c1")];
    await one.end("upstream_error");
    expect(await kit.pool.allocate("l1", ["c1"])).toEqual({ kind: "breaker_open", due_in_ms: 30_000 });
    await two.end("success"); // from before it opened again: old news
    expect(await kit.pool.allocate("l1", ["c1"])).toEqual({ kind: "breaker_open", due_in_ms: 30_000 });
    await redis.later(30_000);
    const [three, four] = [await kit.hold("c1"), await kit.hold("c1")];
    expect(await kit.serves("c1")).toBe("breaker_open");
    await four.end("success");
    await three.end("cancelled");
    for (let i = 0; i < 5; i++) await kit.hold("c1");
  });

  test("the failures of one outage open it once: those that come in after it has closed are old news", async () => {
    const kit = kitOf({});
    await kit.pool.put("c1", 100);
    const old = await kit.holdMany(10, "c1");
    for (const lease of old.slice(0, 4)) await lease.end("upstream_error");
    await redis.later(15_000);
    await kit.call("c1", "success");
    for (const lease of old.slice(4)) await lease.end("upstream_error");
    expect(await kit.serves("c1")).toBe("granted");
    for (let i = 0; i < 2; i++) await kit.call("c1", "upstream_error"); // new ones count
    expect(await kit.serves("c1")).toBe("breaker_open");
  });
});

describe("case B19: its mode", () => {
  test("open: nothing is granted, whatever upstream does, and no time is named", async () => {
    const kit = kitOf({ mode: "open" });
    await kit.pool.put("c1", 1);
    expect(await kit.pool.allocate("l1", ["c1"])).toEqual({ kind: "breaker_open", due_in_ms: 0 });
    await kit.pool.configure(settingsOf({ breaker: { mode: "auto" } }));
    expect((await kit.pool.allocate("l1", ["c1"])).kind).toBe("granted");
  });

  test("closed: failures block nothing; back to auto, what they opened counts", async () => {
    const kit = kitOf({ mode: "closed" });
    await kit.pool.put("c1", 10);
    for (let i = 0; i < 5; i++) await kit.call("c1", "upstream_error");
    expect(await kit.serves("c1")).toBe("granted");
    await kit.pool.configure(settingsOf({ breaker: { mode: "auto" } }));
    expect(await kit.serves("c1")).toBe("breaker_open");
  });

  test("open on purpose, leases go on: they are renewed and released", async () => {
    const kit = kitOf({});
    await kit.pool.put("c1", 1);
    const lease = await kit.hold("c1");
    await kit.pool.configure(settingsOf({ breaker: { mode: "open" } }));
    expect((await kit.pool.renew(lease.lease_id, "c1")).kind).toBe("renewed");
    expect(await lease.end("success")).toEqual({ kind: "released" });
  });
});
