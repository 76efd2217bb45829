// Sub-accounts as an operator keeps them: a cap that is no cap, a purse that is lost, a hold without an owner, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { BAD_IDS, invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { tenant, sub, adjust, open, reserve, end, hold, refund } = ledgerVerbsOf(worker);
useBooks(redis);

const SUBS = "/tenants/acme/sub-accounts";
const read = (name = "alice") => admin("GET", `${SUBS}/${name}`);
const patch = (change: object, name = "alice") => admin("PATCH", `${SUBS}/${name}`, change);
const drop = (name = "alice") => admin("DELETE", `${SUBS}/${name}`);

const NEW = {
  sub_account: "alice",
  status: "active",
  borrow_cap: null,
  max_concurrent: null,
  available: 0,
  held: 0,
  spent: 0,
  lapsed: 0,
  debt: 0,
  borrowed: 0,
  in_flight: 0,
};

describe("a sub-account", () => {
  test("is created, the same again is found, and with other settings it is a conflict", async () => {
    await tenant();
    const made = await sub();
    expect([made.status, made.body]).toMatchObject([201, NEW]);
    const before = await dump(redis);
    const defaults = { status: "active", borrow_cap: null, max_concurrent: null };
    const again = await sub("alice", defaults);
    expect([again.status, again.body]).toMatchObject([200, NEW]);
    for (const other of [{ borrow_cap: 0 }, { max_concurrent: 0 }, { status: "frozen" }]) {
      const answer = await sub("alice", other);
      expect([answer.status, answer.body.code]).toEqual([409, "policy_conflict"]);
    }
    expect(await dump(redis)).toEqual(before);
    const capped = { status: "frozen", borrow_cap: 0, max_concurrent: 0 };
    expect((await sub("bob", capped)).body).toMatchObject({ ...NEW, ...capped, sub_account: "bob" });
  });

  test("made by ten at once is made once; one of the same name under another tenant is another", async () => {
    await open(0);
    await tenant("other");
    const answers = await many(10, () => sub("bob"));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect((await sub("alice", { borrow_cap: 7 }, "other")).status).toBe(201);
    expect((await read()).body.borrow_cap).toBeNull();
  });

  test("is changed in part; a null takes a cap away, and two operators at once lose nothing of each other", async () => {
    await open(100, { borrow_cap: 5, max_concurrent: 2 });
    expect((await patch({ max_concurrent: 3 })).body).toMatchObject({
      ...NEW,
      borrow_cap: 5,
      max_concurrent: 3,
    });
    expect((await patch({ borrow_cap: null })).body).toMatchObject({ ...NEW, max_concurrent: 3 });
    const changes = [{ borrow_cap: 9 }, { max_concurrent: 8 }, { status: "frozen" }];
    const answers = await Promise.all(changes.map((change) => patch(change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await read()).body).toMatchObject({ ...NEW, borrow_cap: 9, max_concurrent: 8, status: "frozen" });
  });

  test("shows its purse: what it has, holds, spent, owes, borrowed", async () => {
    await open(100);
    await adjust({ sub_account: "alice" }, "grant", 50);
    await reserve("h1", 80);
    await reserve("h2", 60);
    await end("h2", "settle", { amount: 90 });
    expect((await read()).body).toMatchObject({
      ...NEW,
      held: 50,
      spent: 20,
      debt: 20,
      borrowed: 100,
      in_flight: 1,
    });
    expect((await admin("GET", SUBS)).body.sub_accounts).toEqual([(await read()).body]);
  });
});

describe("caps", () => {
  test("a borrow cap of null is no cap, 0 is nothing, and what comes back may be drawn again", async () => {
    await open(1000, { borrow_cap: 0 });
    const refused = await reserve("h1", 1);
    expect([refused.status, refused.body.scope, refused.body.available]).toEqual([402, "sub_account", 0]);
    await adjust({ sub_account: "alice" }, "grant", 5);
    expect((await reserve("h1", 5)).body.funding).toEqual([{ source: "sub_account", amount: 5 }]);
    await patch({ borrow_cap: 100 });
    expect((await reserve("h2", 100)).status).toBe(201);
    expect((await reserve("h3", 1)).body).toMatchObject({ scope: "sub_account", requested: 1, available: 0 });
    await end("h2", "settle", { amount: 60 });
    expect((await reserve("h3", 41)).body.available).toBe(40);
    expect((await reserve("h3", 40)).status).toBe(201);
    await patch({ borrow_cap: null });
    expect((await reserve("h4", 900)).status).toBe(201);
    expect((await reserve("h5", 1)).body.scope).toBe("account");
  });

  test("a cap below what is borrowed refuses and takes nothing away", async () => {
    await open(1000);
    await reserve("h1", 500);
    expect((await patch({ borrow_cap: 10 })).body).toMatchObject({ borrowed: 500, borrow_cap: 10 });
    expect((await reserve("h2", 1)).body).toMatchObject({ scope: "sub_account", available: 0 });
    expect((await end("h1", "settle", { amount: 500 })).body.charged).toBe(500);
  });

  test("max_concurrent 0 opens none, and a hold that ends makes room", async () => {
    await open(1000, { max_concurrent: 0 });
    const none = await reserve("h1", 1);
    expect([none.status, none.body.code, none.body.max_concurrent]).toEqual([429, "concurrency_limited", 0]);
    expect(none.headers.get("retry-after")).toBeNull();
    await patch({ max_concurrent: 1 });
    expect((await reserve("h1", 1)).status).toBe(201);
    expect((await reserve("h2", 1)).body.max_concurrent).toBe(1);
    expect((await reserve("h1", 1)).body.replayed).toBe(true); // a repeat is no second one
    await end("h1", "void");
    expect((await reserve("h2", 1)).status).toBe(201);
  });
});

test("a frozen one opens no hold and grows none, its holds end as ever, and its neighbour goes on", async () => {
  await open(1000);
  await sub("bob");
  await reserve("h1", 10);
  await patch({ status: "frozen" });
  const refused = [await reserve("h2", 1), await end("h1", "extend", { ttl_seconds: 9, amount: 11 })];
  for (const { status, body } of refused)
    expect([status, body.code, body.detail]).toEqual([403, "forbidden", "sub_account: it is frozen"]);
  expect((await end("h1", "extend", { ttl_seconds: 9, accrued: 3 })).status).toBe(200);
  expect((await reserve("b1", 10, { sub_account: "bob" })).status).toBe(201);
  expect((await end("h1", "settle", { amount: 20 })).body).toMatchObject({ charged: 20, debt: 0 });
  expect((await refund("h1", "r1", 5)).status).toBe(200);
});

describe("deleting one", () => {
  test("is refused while a hold is open; then it says what was left, and its holds are nobody's", async () => {
    await open(1000);
    await adjust({ sub_account: "alice" }, "grant", 50);
    for (const id of ["h1", "h2"]) await reserve(id, 10);
    await end("h2", "settle", { amount: 10 });
    expect((await drop()).body.detail).toBe("sub_account: 1 of its holds are open");
    await end("h1", "void");
    expect((await drop()).body).toEqual({ removed: true, available: 40 });
    for (const { status } of [await read(), await drop(), await patch({ borrow_cap: 1 })])
      expect(status).toBe(404);
    await sub(); // one made again is another
    for (const { status, body } of [await refund("h2", "r1", 1), await refund("h1", "r1", 1)])
      expect([status, body.code]).toEqual([404, "not_found"]);
    expect((await read()).body).toMatchObject(NEW);
    expect((await hold("h2")).body).toMatchObject({ state: "settled", charged: 10 }); // remembered still
  });
});

test("bad names and bad settings are refused, with the field named", async () => {
  await open(0);
  const before = await dump(redis);
  const answers = await Promise.all([
    ...BAD_IDS.map((bad) => sub(bad as string)),
    ...["a%20b", "a:b", ".a", "%C3%A9", "x".repeat(65)].map((bad) => read(bad)),
  ]);
  for (const answer of answers) expect(refusedFields(answer)).toEqual(invalid("sub_account"));
  for (const max_concurrent of [-1, 1.5, 1_000_001, "1", true, []]) {
    const bad = { max_concurrent };
    expect([bad, refusedFields(await sub("bob", bad))]).toEqual([bad, invalid("max_concurrent")]);
    expect([bad, refusedFields(await patch(bad))]).toEqual([bad, invalid("max_concurrent")]);
  }
  expect(refusedFields(await patch({}))).toEqual(invalid("body"));
  expect(await dump(redis)).toEqual(before);
});
