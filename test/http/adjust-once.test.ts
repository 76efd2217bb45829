// An adjustment and its Idempotency-Key: money that is put in twice, or a second sum that is silently dropped, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { tenant, sub, adjust, open, balances } = ledgerVerbsOf(worker);
useBooks(redis);

const ADJUST = "/tenants/acme/adjust";
const ALICE = { sub_account: "alice" };
const grant = { purse: "account", kind: "grant", amount: 100, reason: "top-up" };
const keyed = (key: string) => ({ "idempotency-key": key });

describe("the Idempotency-Key", () => {
  test("must be there and must be an id, and the refusal names it", async () => {
    await open(0);
    const before = await dump(redis);
    expect(refusedFields(await admin("POST", ADJUST, grant))).toEqual(invalid("idempotency-key"));
    for (const bad of ["", "a b", "a:b", ".a", "x".repeat(65), "{}"])
      expect(refusedFields(await admin("POST", ADJUST, grant, keyed(bad)))).toEqual(
        invalid("idempotency-key"),
      );
    expect(await dump(redis)).toEqual(before);
  });

  test("makes a repeat the first answer, whatever happened since; 10 at once are one", async () => {
    await open(0);
    const answers = await many(10, () => adjust("account", "grant", 100, "once-1"));
    const { replayed: _, ...first } = answers[0]?.body ?? {};
    for (const { status, body } of answers) expect([status, body]).toMatchObject([200, first]);
    expect(answers.filter(({ body }) => body.replayed).length).toBe(9);
    await adjust("account", "zero");
    const again = await adjust("account", "grant", 100, "once-1");
    expect(again.body).toEqual({ ...first, replayed: true });
    expect((await balances()).body.account.available).toBe(0);
    await redis.later(25 * 3_600_000); // after OP_KEEP_HOURS the id is new
    expect((await adjust("account", "grant", 100, "once-1")).body).toEqual({ ...first, replayed: false });
  });

  test("is answered also when the repeat would now be refused", async () => {
    await open(100);
    expect((await adjust("account", "deduct", 100, "once-1")).body.available).toBe(0);
    expect((await adjust("account", "deduct", 100, "once-1")).body).toMatchObject({
      change: -100,
      replayed: true,
    });
  });

  test("with other arguments is a conflict, and nothing happens", async () => {
    await open(0);
    await sub("bob");
    await admin("POST", ADJUST, grant, keyed("once-1"));
    const before = await dump(redis);
    const others = [
      { amount: 101 },
      { kind: "deduct" },
      { kind: "set" },
      { purse: ALICE },
      { reason: "another" },
      { ref: "h1" },
    ];
    for (const other of others) {
      const { status, body } = await admin("POST", ADJUST, { ...grant, ...other }, keyed("once-1"));
      expect([other, status, body.code]).toEqual([other, 409, "idempotency_conflict"]);
    }
    expect(await dump(redis)).toEqual(before);
  });

  test("case C25: is a tenant's own", async () => {
    await open(0);
    await tenant("other");
    expect((await adjust("account", "grant", 100, "once-1")).body.replayed).toBe(false);
    expect((await adjust("account", "grant", 7, "once-1", "other")).body).toMatchObject({
      available: 7,
      replayed: false,
    });
  });

  test("of a refusal is free: refusals are not remembered", async () => {
    await open(10);
    expect((await adjust("account", "deduct", 11, "once-1")).status).toBe(402);
    await adjust("account", "grant", 1);
    expect((await adjust("account", "deduct", 11, "once-1")).body).toMatchObject({ available: 0 });
  });
});
