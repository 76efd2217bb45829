// Pool settings over HTTP: what they are, that they take effect at once, and that a wrong one is named.
import { expect, test } from "vitest";
import { credential, useWorker } from "../support/worker.ts";

const worker = useWorker();
const POOL = "/pools/openai/default";
const ask = (more: Record<string, unknown> = {}) =>
  worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o", ...more });
const patch = (settings: unknown, pool = POOL) => worker.admin("PATCH", pool, settings);

test("a pool shows its state, its counters and its settings", async () => {
  await worker.admin("POST", "/credentials", credential("key_01", { max_concurrent_uses: 2 }));
  const { body: lease } = await ask();
  await ask();
  await ask();
  await worker.internal(`/leases/${lease.lease_id}/release`, { key_id: "key_01", provider: "openai" });
  expect((await worker.admin("GET", POOL)).body).toMatchObject({
    provider: "openai",
    pool: "default",
    credentials: 1,
    capacity: 2,
    in_flight: 1,
    breaker: { failures_in_a_row: 0, open_until: null },
    counters: { granted: 2, refused: 1, breaker_open: 0, lost: 0, released: 1, reclaimed: 0, revoked: 0 },
    settings: {
      fallback: [],
      strategy: "score",
      candidates: 32,
      lease_seconds: 35,
      recovery: "opportunistic",
    },
  });
  expect((await worker.admin("GET", "/pools/openai/none")).status).toBe(404);
});

test("what is changed takes effect at once, and what is not named stays", async () => {
  await worker.admin("POST", "/credentials", credential("key_01", { max_concurrent_uses: 5 }));
  const changed = await patch({ lease_seconds: 10, max_lifetime_seconds: 20, breaker: { probes: 2 } });
  expect(changed.body.settings).toMatchObject({
    lease_seconds: 10,
    max_lifetime_seconds: 20,
    strategy: "score",
    breaker: { probes: 2, failures: 5, mode: "auto" },
  });
  const { body } = await ask();
  expect(body.expires_in_seconds).toBe(10);
  expect(Date.parse(body.max_expires_at) - worker.redis.now_ms).toBe(20_000);
});

test("an operator holds the breaker open: nothing is granted, and the caller hears why", async () => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  await patch({ breaker: { mode: "open" } });
  const refused = await ask();
  expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
    503,
    "breaker_open",
    "1",
  ]);
  expect((await worker.admin("GET", POOL)).body).toMatchObject({
    in_flight: 0,
    counters: { breaker_open: 1 },
  });
  await patch({ breaker: { mode: "auto" } });
  expect((await ask()).status).toBe(200);
});

test("fallback is data: any pool may send on what it cannot serve, and keep a reserve from what is sent", async () => {
  await worker.admin("POST", "/credentials", {
    credentials: [
      credential("a", { pool: "batch" }),
      credential("b", { pool: "default", max_concurrent_uses: 3 }),
    ],
  });
  await patch({ fallback: ["none", "default"] }, "/pools/openai/batch");
  await patch({ reserved_capacity: 2 });
  expect((await ask({ pool: "batch" })).body).toMatchObject({ pool: "batch", fallback: false });
  expect((await ask({ pool: "batch" })).body).toMatchObject({ pool: "default", fallback: true });
  const refused = await ask({ pool: "batch" });
  expect([refused.status, refused.body.reasons]).toEqual([429, { full: 1, reserved: 1 }]);
  expect((await ask()).body).toMatchObject({ pool: "default", fallback: false });
});

test("case B19: a probe budget of 0, and other nonsense, is refused by name", async () => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  for (const [settings, field] of [
    [{ breaker: { probes: 0 } }, "breaker.probes"],
    [{ breaker: { mode: "ajar" } }, "breaker.mode"],
    [{ strategy: "best" }, "strategy"],
    [{ weights: { capacity: -1 } }, "weights.capacity"],
    [{ cooldowns: { error_ms: 1.5 } }, "cooldowns.error_ms"],
    [{ fallback: ["no such:name"] }, "fallback.0"],
    [{ lease_seconds: 0 }, "lease_seconds"],
    [{ surprise: 1 }, "surprise"],
  ] as const) {
    const { status, body } = await patch(settings);
    expect([status, body.errors?.[0].field]).toEqual([400, field]);
  }
  expect((await patch({ lease_seconds: 5 }, "/pools/openai/none")).status).toBe(404);
});

test("affinity: the same key gets the same credential, whatever the others do", async () => {
  const ids = ["a", "b", "c", "d", "e"];
  await worker.admin("POST", "/credentials", {
    credentials: ids.map((id) => credential(id, { max_concurrent_uses: 50 })),
  });
  const got = new Map<string, Set<string>>();
  for (let i = 0; i < 5; i++) {
    for (const affinity_key of ["conv-1", "conv-2", "conv-3", "conv-4", "conv-5", "conv-6"]) {
      const { body } = await ask({ affinity_key });
      got.set(affinity_key, (got.get(affinity_key) ?? new Set()).add(body.key_id));
    }
  }
  expect([...got.values()].every((keys) => keys.size === 1)).toBe(true);
  expect(new Set([...got.values()].flatMap((keys) => [...keys])).size).toBeGreaterThan(1);
});

test("ten callers at once on five fresh credentials spread over them, also on a cold start", async () => {
  const ids = ["a", "b", "c", "d", "e"];
  await worker.admin("POST", "/credentials", {
    credentials: ids.map((id) => credential(id, { max_concurrent_uses: 10 })),
  });
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask()));
  expect(new Set(answers.map(({ body }) => body.key_id)).size).toBeGreaterThan(2);
  const later = await Promise.all(Array.from({ length: 10 }, () => ask()));
  expect(new Set(later.map(({ body }) => body.key_id)).size).toBeGreaterThan(2);
});
