// What the Worker asks of Postgres through the official driver and drizzle is answered as Neon answers it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neon, neonConfig } from "@neondatabase/serverless";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/neon-http";
import { bigint, integer, jsonb, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type NeonDouble, startNeon } from "../../dev/neon/server.ts";

const entries = pgTable("entries", {
  id: text().primaryKey(),
  amount: bigint({ mode: "bigint" }).notNull(),
  count: integer().notNull().default(0),
  at: timestamp({ withTimezone: true, precision: 3 }),
  meta: jsonb(),
  tags: text().array(),
});
const DDL = `create table entries (id text primary key, amount bigint not null check (amount > 0),
  count integer not null default 0, at timestamptz(3), meta jsonb, tags text[])`;

const dataDir = mkdtempSync(join(tmpdir(), "neon-"));
let double: NeonDouble;
const raw = () => neon(double.connectionString);
const db = () => drizzle(raw());

beforeAll(async () => {
  double = await startNeon({ dataDir: join(dataDir, "pg") });
  neonConfig.fetchEndpoint = () => double.url;
  await double.database.exec(DDL);
});
beforeEach(async () => {
  double.clearFaults();
  await double.database.exec("truncate entries");
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe("drizzle", () => {
  test("every digit, instant and byte of json comes back", async () => {
    const row = {
      id: "1e5",
      amount: 9_007_199_254_740_993n,
      count: -1,
      at: new Date("2026-11-30T23:59:59.999Z"),
      meta: { order: "15947634569000323", tags: [], note: "é\"\\{}'", nested: [{ a: null }] },
      tags: ["a,b", 'c"d', "{e}", "null", "", "\\"],
    };
    await db().insert(entries).values(row);
    expect(await db().select().from(entries)).toEqual([row]);
    const bare = { id: "2", amount: 1n };
    await db().insert(entries).values(bare);
    const [read] = await db().select().from(entries).where(eq(entries.id, "2"));
    expect(read).toEqual({ ...bare, count: 0, at: null, meta: null, tags: null });
  });

  test("a replay inserts nothing and says so", async () => {
    const insert = () => db().insert(entries).values({ id: "1-0", amount: 1n }).onConflictDoNothing();
    expect((await insert()).rowCount).toBe(1);
    expect((await insert()).rowCount).toBe(0);
    expect(await insert().returning()).toEqual([]);
    expect(await db().$count(entries)).toBe(1);
  });

  test("a batch is one transaction: it rolls back whole, and the next one works", async () => {
    const one = db();
    const good = one.insert(entries).values({ id: "1", amount: 1n });
    await expect(one.batch([good, one.insert(entries).values({ id: "2", amount: 0n })])).rejects.toThrow();
    expect(await one.$count(entries)).toBe(0);
    const [, rows] = await one.batch([good, one.select({ id: entries.id }).from(entries)]);
    expect(rows).toEqual([{ id: "1" }]);
  });
});

describe("the driver", () => {
  // Instants stay text here because drizzle turns off that parser of the driver, for the whole process.
  test("values of every kind are text on the way, and parsed by the driver alone", async () => {
    const [row] =
      await raw()`select 12.50::numeric as n, 9007199254740993::bigint as b, true as t, 'x'::bytea as y,
      '{1,NULL,3}'::int[] as a, 'NaN'::float8 as f, null as z, '2026-11-30 12:00+00'::timestamptz as at`;
    expect(row).toEqual({
      n: "12.50",
      b: "9007199254740993",
      t: true,
      y: Buffer.from("x"),
      a: [1, null, 3],
      f: Number.NaN,
      z: null,
      at: "2026-11-30 12:00:00+00",
    });
  });

  test("parameters of every kind arrive", async () => {
    const values = [true, "12.5", "text", null, { a: [1] }, ["x", 'y"', null], Buffer.from([0, 255])];
    const rows = await raw().query(
      "select $1::bool, $2::numeric, $3::text, $4::text, $5::jsonb, $6::text[], $7::bytea, $8::timestamptz",
      [...values, new Date("2026-11-30T12:00:00Z")],
      { arrayMode: true },
    );
    expect(rows).toEqual([[...values, "2026-11-30 12:00:00+00"]]);
  });

  test("full results: command, row count, fields", async () => {
    const full = neon(double.connectionString, { fullResults: true });
    const results = await full.transaction([
      full`insert into entries (id, amount) values ('1', 1), ('2', 2)`,
      full`update entries set amount = 3 where id = '1'`,
      full`select id, amount from entries order by id`,
      full`create table other (id int)`,
      full`drop table other`,
    ]);
    expect(results.map(({ command, rowCount }) => [command, rowCount])).toEqual([
      ["INSERT", 2],
      ["UPDATE", 1],
      ["SELECT", 2],
      ["CREATE", null],
      ["DROP", null],
    ]);
    expect(results[2]?.fields).toMatchObject([
      { name: "id", dataTypeID: 25, format: "text" },
      { name: "amount", dataTypeID: 20, columnID: 2 },
    ]);
  });

  test("isolation level, read only, deferrable", async () => {
    const one = raw();
    const show = [
      one`show transaction_isolation`,
      one`show transaction_read_only`,
      one`show transaction_deferrable`,
    ];
    const values = async (options: Parameters<typeof one.transaction>[1]) =>
      (await one.transaction(show, options)).flatMap((rows) => Object.values(Object.values(rows)[0]));
    expect(await values({})).toEqual(["read committed", "off", "off"]);
    expect(await values({ isolationLevel: "Serializable", readOnly: true, deferrable: true })).toEqual([
      "serializable",
      "on",
      "on",
    ]);
    const write = one`insert into entries (id, amount) values ('1', 1)`;
    await expect(one.transaction([write], { readOnly: true })).rejects.toMatchObject({ code: "25006" });
    await one.transaction([write], { isolationLevel: "RepeatableRead" });
    const wrong = { isolationLevel: "Nonsense" as "Serializable" };
    await expect(one.transaction([write], wrong)).rejects.toThrow("invalid isolation level");
  });

  test("a transaction left open does not outlive its request", async () => {
    await raw()`begin`;
    await raw()`insert into entries (id, amount) values ('1', 1)`;
    await raw()`rollback`;
    expect(await db().$count(entries)).toBe(1);
  });
});

test("as its own process, on the same folder: the data are there, and it ends on SIGTERM", async () => {
  await db().insert(entries).values({ id: "kept", amount: 1n });
  await double.stop();
  const args = ["dev/neon/main.ts", "--data-dir", join(dataDir, "pg")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  neonConfig.fetchEndpoint = () => String(line).trim();
  expect(await db().select({ id: entries.id }).from(entries)).toEqual([{ id: "kept" }]);
  expect(await db().execute(sql`select 1 as one`)).toMatchObject({ rows: [{ one: 1 }] });
  child.kill("SIGTERM");
  expect((await once(child, "exit"))[0]).toBe(0);
});
