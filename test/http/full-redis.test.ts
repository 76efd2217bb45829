// A Redis that is full or read-only refuses a script's first write: an outage that looks like a bug, or a change that is half done.
import { afterEach, beforeEach, expect, test } from "vitest";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { open, reserve, balances } = ledgerVerbsOf(worker);
const { add, allocate } = verbsOf(worker);

beforeEach(async () => {
  await open(100);
  await add("key_01", 9);
});
afterEach(async () => {
  await worker.redis.raw.config("SET", "maxmemory", "0");
  await worker.redis.raw.config("SET", "min-replicas-to-write", "0");
});

test.each([
  ["full", () => worker.redis.raw.config("SET", "maxmemory", "1")],
  ["without its replicas", () => worker.redis.raw.config("SET", "min-replicas-to-write", "1")],
])("%s: 503, nothing was changed, and afterwards all goes on", async (_, trouble) => {
  const before = (await balances()).body;
  await trouble();
  for (const ask of [() => reserve("h1", 10), () => allocate({ op_id: "op-1" })]) {
    const { status, body } = await ask();
    expect([status, body.code, body.maybe_applied]).toEqual([503, "store_unavailable", false]);
  }
  await worker.redis.raw.config("SET", "maxmemory", "0");
  await worker.redis.raw.config("SET", "min-replicas-to-write", "0");
  expect((await balances()).body).toEqual(before);
  expect((await reserve("h1", 10)).status).toBe(201);
  expect((await allocate({ op_id: "op-1" })).status).toBe(200);
});
