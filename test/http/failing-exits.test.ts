// Calls that fail in every way a call can: an amount that stays held, is charged twice or not at all, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { violations } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, sweep } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { type Answer, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const { open, reserve, end, hold, balances } = ledgerVerbsOf(worker);
beforeEach(() => aWhileAgo(worker));

const CALLS = 200;
const EXITS = ["void", "settle 0", "expire", "lost"] as const;
const exitOf = (i: number) => EXITS[i % EXITS.length];

/** Its record goes behind the service's back. */
const lose = (hold_id: string) => redis.raw.del(keys.hold("acme", hold_id));
const told = ({ status, body }: Answer) => `${status} ${body.code ?? body.state}`;

test("case C23: 200 calls through every failing exit: nothing stays held of those that have a record, none is charged", async () => {
  await open(1_000_000);
  const opened = await many(CALLS, (i) =>
    reserve(`h${i}`, 1000, { ttl_seconds: exitOf(i) === "expire" ? 1 : 600 }),
  );
  expect(new Set(opened.map(told))).toEqual(new Set(["201 open"]));
  const before = (await balances()).body.account;
  expect(before).toMatchObject({ available: 800_000, held: 200_000 });

  const answers = await many(CALLS, async (i) => {
    const [id, exit] = [`h${i}`, exitOf(i)];
    if (exit === "void") return told(await end(id, "void"));
    if (exit === "settle 0") return told(await end(id, "settle", { amount: 0 }));
    if (exit === "lost") {
      await lose(id);
      return told(await end(id, "settle", { amount: 1000 }));
    }
    return "later";
  });
  const tally = Object.groupBy(answers, (answer) => answer);
  expect(Object.fromEntries(Object.entries(tally).map(([answer, list]) => [answer, list?.length]))).toEqual({
    "200 voided": 50,
    "200 settled": 50,
    "404 not_found": 50,
    later: 50,
  });
  await redis.later(1_000);
  expect(await sweep(worker)).toMatchObject({ holds_expired: 50, holds_failed: 0 });

  // What is held still is that of the records that are gone: charged never, and said by whoever looks.
  expect((await balances()).body.account).toEqual({ available: 950_000, held: 50_000, spent: 0, lapsed: 0 });
  const said = await violations(redis);
  expect(said.length).toBeGreaterThan(0);
  expect(said.filter((violation) => !/held|open|in flight|borrowed|due/.test(violation))).toEqual([]);
  for (let i = 0; i < CALLS; i += 41)
    expect((await hold(`h${i}`)).status).toBe(exitOf(i) === "lost" ? 404 : 200);
});

describe("a hold whose record is gone", () => {
  test("is refused by each verb with one clear code, never charged, and its id is not taken for a new call's", async () => {
    await open(1000);
    for (const id of ["h1", "h2"]) await reserve(id, 100);
    await lose("h1");
    const answers = [
      await end("h1", "settle", { amount: 100 }),
      await end("h1", "void"),
      await end("h1", "extend", { ttl_seconds: 60, amount: 200 }),
      await hold("h1"),
    ];
    for (const { status, body } of answers)
      expect([status, body.code, body.detail]).toEqual([
        404,
        "not_found",
        "hold_id: the tenant has no such hold",
      ]);
    expect((await end("h2", "settle", { amount: 100 })).body.charged).toBe(100);
    expect((await balances()).body.account).toEqual({ available: 800, held: 100, spent: 100, lapsed: 0 });
  });

  test("after its end is refused alike: it was charged, and is not charged again", async () => {
    await open(1000);
    await reserve("h1", 100);
    await end("h1", "settle", { amount: 70 });
    await lose("h1");
    expect(told(await end("h1", "settle", { amount: 70 }))).toBe("404 not_found");
    expect((await balances()).body.account).toEqual({ available: 930, held: 0, spent: 70, lapsed: 0 });
  });
});
