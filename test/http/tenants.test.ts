// Tenants as an operator keeps them: a tenant made twice, changed by half, or deleted under an open hold, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { BAD_IDS, invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { keys } from "../support/redis.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { tenant, sub, adjust, open, reserve, end, refund, hold } = ledgerVerbsOf(worker);
useBooks(redis);

const read = (name = "acme") => admin("GET", `/tenants/${name}`);
const patch = (status: string) => admin("PATCH", "/tenants/acme", { status });
const drop = (name = "acme") => admin("DELETE", `/tenants/${name}`);

const NEW = {
  tenant: "acme",
  status: "active",
  account: { available: 0, held: 0, spent: 0, lapsed: 0 },
  sub_accounts: 0,
  open_holds: 0,
  counters: { reserved: 0, refused: 0 },
};

describe("a tenant", () => {
  test("is created, the same again is found, and with other settings it is a conflict", async () => {
    const made = await tenant();
    expect([made.status, made.body]).toMatchObject([201, NEW]);
    const before = await dump(redis);
    const again = await tenant("acme", { status: "active" }); // what is not said is its default
    expect([again.status, again.body]).toMatchObject([200, NEW]);
    const other = await tenant("acme", { status: "frozen" });
    expect([other.status, other.body.code]).toEqual([409, "policy_conflict"]);
    expect(other.body.detail).toContain("PATCH");
    expect(await dump(redis)).toEqual(before);
    expect((await tenant("cold", { status: "frozen" })).body).toMatchObject({
      ...NEW,
      tenant: "cold",
      status: "frozen",
    });
  });

  test("made by ten at once is made once", async () => {
    const answers = await many(10, () => tenant());
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    for (const { body } of answers) expect(body).toMatchObject(NEW);
  });

  test("says what it has, how many sub-accounts and open holds, and what was answered", async () => {
    await open(1000);
    await sub("bob");
    await reserve("h1", 300);
    await reserve("h2", 200);
    await end("h2", "settle", { amount: 50 });
    expect((await reserve("h3", 9000)).status).toBe(402);
    expect((await read()).body).toMatchObject({
      ...NEW,
      account: { available: 650, held: 300, spent: 50, lapsed: 0 },
      sub_accounts: 2,
      open_holds: 1,
      counters: { reserved: 2, refused: 1 },
    });
  });

  test("is listed in order of name, a page at a time; a deleted one is not", async () => {
    for (const name of ["b", "d", "A", "c", "1"]) await tenant(name);
    await drop("c");
    const names: string[][] = [];
    for (let cursor = ""; ; ) {
      const { body } = await admin("GET", `/tenants?limit=2${cursor}`);
      names.push(body.tenants.map((one: typeof NEW) => one.tenant));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(names).toEqual([
      ["1", "A"],
      ["b", "d"],
    ]);
    const all = await admin("GET", "/tenants");
    expect(all.body).toMatchObject({
      tenants: ["1", "A", "b", "d"].map((name) => ({ ...NEW, tenant: name })),
      next_cursor: null,
    });
  });
});

describe("a frozen tenant", () => {
  test("opens no hold and grows none; what is open ends as ever", async () => {
    await open(1000);
    for (const id of ["h1", "h2", "h3"]) await reserve(id, 100);
    expect((await patch("frozen")).body).toMatchObject({ status: "frozen", open_holds: 3 });
    const refused = await reserve("h4", 1);
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      403,
      "forbidden",
      "tenant: it is frozen",
    ]);
    expect((await hold("h4")).status).toBe(404);
    const growth = await end("h1", "extend", { ttl_seconds: 600, amount: 101 });
    expect([growth.status, growth.body.code]).toEqual([403, "forbidden"]);
    const longer = await end("h1", "extend", { ttl_seconds: 600, amount: 100, accrued: 7 });
    expect([longer.status, longer.body.accrued]).toEqual([200, 7]);
    expect((await reserve("h1", 100)).body).toMatchObject({ replayed: true }); // no new hold
    expect((await end("h1", "settle", { amount: 30 })).body).toMatchObject({ charged: 30, debt: 0 });
    expect((await end("h2", "void")).status).toBe(200);
    expect((await end("h3", "settle", { amount: 170 })).body).toMatchObject({ charged: 170 }); // it was consumed
    expect((await adjust("account", "grant", 5)).status).toBe(200);
    expect((await patch("active")).status).toBe(200);
    expect((await reserve("h4", 1)).status).toBe(201);
  });

  test("is a status entry of the journal, and a repeat of the same patch writes none", async () => {
    await tenant();
    for (const status of ["frozen", "frozen", "active", "active"])
      expect((await patch(status)).body.status).toBe(status);
    const { journal_key } = keys.tenant("acme");
    const entries = await redis.raw.xrange(journal_key, "-", "+");
    expect(entries.map(([, fields]) => `${fields[1]} ${fields[5]}`)).toEqual([
      "config 1",
      "status 2",
      "status 3",
    ]);
  });
});

describe("deleting a tenant", () => {
  test("is refused while a hold is open, and then takes all of it", async () => {
    await open(1000);
    await sub("bob");
    await admin("POST", "/tenants/acme/sub-accounts/bob/tokens", { name: "laptop" });
    await reserve("h1", 10);
    const refused = await drop();
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      409,
      "policy_conflict",
      "tenant: 1 of its holds are open",
    ]);
    await end("h1", "settle", { amount: 4 });
    expect((await drop()).body).toEqual({ removed: true, sub_accounts: 2 });
    for (const gone of [await read(), await drop(), await reserve("h2", 1), await hold("h2")])
      expect([gone.status, gone.body.detail]).toEqual([404, "tenant: there is no such tenant"]);
    expect(JSON.stringify(await redis.raw.hgetall("{test}:tenant:acme"))).not.toMatch(/token|purse|sub:/);
  });

  test("one made again under its name starts with nothing, and its holds of before are not its own", async () => {
    await open(1000);
    await reserve("h1", 100);
    await end("h1", "settle", { amount: 100 });
    await drop();
    await open(0);
    expect((await read()).body).toMatchObject({ account: NEW.account, open_holds: 0, sub_accounts: 1 });
    const refunded = await refund("h1", "r1", 1);
    expect([refunded.status, refunded.body.code]).toEqual([404, "not_found"]);
    expect((await adjust("account", "grant", 70)).body.available).toBe(70);
    expect((await reserve("h1", 100)).body).toMatchObject({ code: "hold_closed", charged: 100 }); // nothing reopens
    expect((await reserve("h2", 70)).status).toBe(201);
  });
});

test("bad names and bad settings are refused, with the field named", async () => {
  await tenant();
  const before = await dump(redis);
  for (const bad of BAD_IDS) expect(refusedFields(await tenant(bad as string))).toEqual(invalid("tenant"));
  for (const status of ["", "gone", "Frozen", null, 1, true, [], {}]) {
    expect(refusedFields(await tenant("b", { status }))).toEqual(invalid("status"));
    expect(refusedFields(await patch(status as string))).toEqual(invalid("status"));
  }
  expect((await admin("PATCH", "/tenants/acme", {})).body.errors).toEqual([
    { field: "body", message: "at least one field" },
  ]);
  for (const bad of ["a%20b", "a:b", ".a", "%C3%A9", "x".repeat(65), "a~b", "%7Ba%7D"])
    expect(refusedFields(await read(bad))).toEqual(invalid("tenant"));
  expect(await dump(redis)).toEqual(before);
});
