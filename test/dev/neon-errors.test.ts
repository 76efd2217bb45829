// How the Neon double refuses: SQL errors with their fields, connection strings, bodies, and faults that tests switch on.
import { NeonDbError, neon, neonConfig } from "@neondatabase/serverless";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type NeonDouble, startNeon } from "../../dev/neon/server.ts";

let double: NeonDouble;
beforeAll(async () => {
  double = await startNeon();
  neonConfig.fetchEndpoint = () => double.url;
  await double.database.exec("create table entries (id text primary key, amount bigint not null)");
});
beforeEach(async () => {
  double.clearFaults();
  await double.database.exec("truncate entries");
});
afterAll(() => double.stop());
const raw = () => neon(double.connectionString);

describe("errors", () => {
  test("a unique violation names everything", async () => {
    const insert = () => raw()`insert into entries (id, amount) values ('1', 1)`;
    await insert();
    const error = await insert().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NeonDbError);
    expect(error).toMatchObject({
      message: 'duplicate key value violates unique constraint "entries_pkey"',
      code: "23505",
      severity: "ERROR",
      detail: "Key (id)=(1) already exists.",
      schema: "public",
      table: "entries",
      constraint: "entries_pkey",
      routine: "_bt_check_unique",
    });
  });

  test.each([
    ["select 1 +", { code: "42601", position: "11" }],
    ["select nope from entries", { code: "42703", position: "8" }],
    ["insert into entries (id) values ('1')", { code: "23502", column: "amount", table: "entries" }],
    ["select 'x'::int", { code: "22P02", message: 'invalid input syntax for type integer: "x"' }],
    ["select length(1)", { code: "42883", hint: expect.stringContaining("type casts") }],
    [
      "do $$ begin raise 'boom' using detail = 'why'; end $$",
      { code: "P0001", detail: "why", where: /PL\/pgSQL/ },
    ],
    ["select 1; select 2", { code: "42601", message: /multiple commands/ }],
  ])("%s", async (statement, { message, where, ...fields }: Record<string, unknown>) => {
    const error = await raw()
      .query(statement)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(fields);
    for (const [name, pattern] of Object.entries({ message, where })) {
      if (pattern) expect(error).toHaveProperty(name, expect.stringMatching(pattern as RegExp | string));
    }
  });
});

describe("over HTTP", () => {
  const send = async (body: string, connection?: string) => {
    const headers: Record<string, string> =
      connection === undefined ? {} : { "neon-connection-string": connection };
    const response = await fetch(double.url, { method: "POST", body, headers });
    return { status: response.status, json: await response.json() };
  };
  const SELECT = JSON.stringify({ query: "select true as t, 1 as i, 1::bigint as b, '[1]'::jsonb as j" });

  test("the connection string is checked, in Neon's words", async () => {
    const cases: [string | undefined, string][] = [
      [undefined, "invalid header: neon-connection-string"],
      ["nonsense", "invalid connection string: relative URL without a base"],
      ["mysql://a:b@c/d", "incorrect scheme"],
      ["postgres://a:b@c", "missing database name"],
      ["postgres://:b@c/d", "missing username"],
      ["postgres://a@c/d", "missing authentication credentials: required password"],
      ["postgres://a:b@c/d", "password authentication failed for user 'a'"],
      [double.connectionString.replace(/[^/]+$/, "other"), 'database "other" does not exist'],
    ];
    for (const [connection, message] of cases) {
      expect(await send(SELECT, connection)).toMatchObject({ status: 400, json: { message } });
    }
  });

  test("objects and JSON values without the driver's headers", async () => {
    const { json } = await send(SELECT, double.connectionString);
    expect(json).toMatchObject({ rowAsArray: false, rows: [{ t: true, i: 1, b: "1", j: [1] }] });
  });

  test("what is no query is refused, as is what is too large, or elsewhere", async () => {
    for (const body of ["", "{", "[]", "null", "{}", '{"query":1}', '{"query":"select 1","params":{}}']) {
      const message = expect.stringMatching(/^could not parse the HTTP request body: /);
      expect(await send(body, double.connectionString)).toMatchObject({ status: 400, json: { message } });
    }
    const large = JSON.stringify({ query: "select $1", params: ["x".repeat(10 * 1024 * 1024)] });
    expect(await send(large, double.connectionString)).toMatchObject({ status: 413 });
    expect((await fetch(double.url.replace("/sql", "/"))).status).toBe(400);
  });
});

describe("faults", () => {
  const insert = (id: string) => raw()`insert into entries (id, amount) values (${id}, 1)`;
  const ids = async () => (await raw()`select id from entries order by id`).map(({ id }) => id);

  test("drop_before, drop_after, error_500, delay, times and match", async () => {
    const match = (query: string) => query.startsWith("insert");
    double.fault({ kind: "drop_before", match });
    expect(await ids()).toEqual([]);
    await expect(insert("1")).rejects.toThrow(/Error connecting to database/);
    expect(await ids()).toEqual([]);
    double.fault({ kind: "drop_after", match, times: 2 });
    for (const id of ["1", "2"]) await expect(insert(id)).rejects.toThrow(/Error connecting to database/);
    expect(await ids()).toEqual(["1", "2"]);
    double.fault({ kind: "error_500" });
    await expect(insert("3")).rejects.toThrow(/Server error \(HTTP status 500\)/);
    double.fault({ kind: "delay", ms: 60 });
    const startedAt = Date.now();
    expect(await ids()).toEqual(["1", "2"]);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(55);
  });
});
