// Bad input of the ledger: refused with the field named, and nothing stored. A guess that somebody pays for, if these failed.
import { expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { BAD_IDS, badRow, invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT, send } from "../support/ledger-routes.ts";
import { type Answer, type More, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, internal } = worker;
const { open, reserve, end } = ledgerVerbsOf(worker);
useBooks(redis);

/** What is no amount, as JSON text: some of it no parser gives back as it was. */
const NO_AMOUNT = [
  ...'"NaN"|"Infinity"|1e309|-1e309|"0x10"|"1e3"|" 12 "|"12"|1.5|0.1|-0|-0.0|true|false|null|[]|[1]|{}'.split(
    "|",
  ),
  ...'9007199254740992|9007199254740993|12345678901234567890|"007"|""|-1'.split("|"),
];
/** A count is no amount of money: -0 is taken for the 0 that it is. */
const NO_COUNT = NO_AMOUNT.filter((text) => !text.startsWith("-0"));
/** Where a null is a word of its own. */
const notNull = (texts: string[]) => texts.filter((text) => text !== "null");
/** A number that is written in another way, and is the same whole number. */
const SAME_NUMBER = ["10", "1e1", "10.0", "100e-1"];

interface Place {
  readonly method?: string;
  readonly path: string;
  readonly body: More;
  /** With `%` where the amount stands. */
  readonly at: More;
  readonly field: string;
  readonly bad?: string[];
}

const MARK = '"%"';
const HOLDS = "/api/internal/holds";
const SUBS = "/api/admin/tenants/acme/sub-accounts";
const RESERVE = { hold_id: "h9", tenant: "acme", sub_account: "alice" };
const EXTEND = { tenant: "acme", ttl_seconds: 60 };
const row = { model: "m", amount: 1 };
const adjustment = { purse: "account", reason: "test" };

const places: Place[] = [
  { path: HOLDS, body: RESERVE, at: { amount: "%" }, field: "amount" },
  { path: HOLDS, body: RESERVE, at: { items: [{ ...row, amount: "%" }] }, field: "items.0.amount" },
  { path: HOLDS, body: RESERVE, at: { items: [row, { ...row, amount: "%" }] }, field: "items.1.amount" },
  {
    path: HOLDS,
    body: RESERVE,
    at: { items: [{ ...row, tokens: "%" }] },
    field: "items.0.tokens",
    bad: NO_COUNT,
  },
  {
    path: HOLDS,
    body: RESERVE,
    at: { items: [{ ...row, requests: "%" }] },
    field: "items.0.requests",
    bad: NO_COUNT,
  },
  { path: HOLDS, body: { ...RESERVE, amount: 1 }, at: { tokens: "%" }, field: "tokens", bad: NO_COUNT },
  { path: HOLDS, body: { ...RESERVE, amount: 1 }, at: { requests: "%" }, field: "requests", bad: NO_COUNT },
  { path: HOLDS, body: { ...RESERVE, amount: 1 }, at: { ttl_seconds: "%" }, field: "ttl_seconds" },
  { path: `${HOLDS}/h1/settle`, body: { tenant: "acme" }, at: { amount: "%" }, field: "amount" },
  {
    path: `${HOLDS}/h1/settle`,
    body: { tenant: "acme", amount: 1 },
    at: { items: [{ model: "m", amount: "%" }] },
    field: "items.0.amount",
  },
  {
    path: `${HOLDS}/h1/settle`,
    body: { tenant: "acme", amount: 1 },
    at: { usage: { input_tokens: "%" } },
    field: "usage.input_tokens",
    bad: NO_COUNT,
  },
  { path: `${HOLDS}/h1/extend`, body: EXTEND, at: { amount: "%" }, field: "amount" },
  { path: `${HOLDS}/h1/extend`, body: EXTEND, at: { accrued: "%" }, field: "accrued" },
  { path: `${HOLDS}/h1/extend`, body: { tenant: "acme" }, at: { ttl_seconds: "%" }, field: "ttl_seconds" },
  {
    path: "/api/internal/refunds",
    body: { op_id: "r1", tenant: "acme", hold_id: "h2" },
    at: { amount: "%" },
    field: "amount",
    bad: [...NO_AMOUNT, "0"],
  },
  ...["grant", "deduct", "set"].map((kind) => ({
    path: "/api/admin/tenants/acme/adjust",
    body: { ...adjustment, kind },
    at: { amount: "%" },
    field: "amount",
    bad: kind === "set" ? NO_AMOUNT : [...NO_AMOUNT, "0"],
  })),
  ...(["borrow_cap", "max_concurrent"] as const).flatMap((field) => {
    const bad = notNull(field === "borrow_cap" ? NO_AMOUNT : NO_COUNT);
    return [
      { path: SUBS, body: { sub_account: "bob" }, at: { [field]: "%" }, field, bad },
      { method: "PATCH", path: `${SUBS}/alice`, body: {}, at: { [field]: "%" }, field, bad },
    ];
  }),
];
const titled = places.map((place) => [`${place.path} ${JSON.stringify(place.at)}`, place] as const);

const ask = ({ method = "POST", path, body, at }: Place, text: string, n = 0) =>
  send(
    worker,
    { method, path, headers: { "idempotency-key": `op-${n}` } },
    { body: JSON.stringify({ ...body, ...at }).replace(MARK, text) },
  );

test.each(titled)("case C31: %s: what is no whole number of 0 to 2^53-1 is refused", async (_, place) => {
  await open(1000);
  await reserve("h1", 100, { model: "m" });
  await reserve("h2", 100);
  await end("h2", "settle", { amount: 100 });
  const before = await dump(redis);
  const texts = place.bad ?? NO_AMOUNT;
  const answers = await Promise.all(texts.map((text) => ask(place, text)));
  for (const [i, text] of texts.entries()) {
    const { status, code, fields } = refusedFields(answers[i] as Answer);
    expect([text, status, code, fields[0]]).toEqual([text, 400, "invalid_request", place.field]);
  }
  expect(await dump(redis)).toEqual(before);
});

test("a whole number is one however it is written", async () => {
  await open(1000);
  const [place] = places as [Place];
  for (const [i, text] of SAME_NUMBER.entries()) {
    const { status, body } = await ask({ ...place, body: { ...RESERVE, hold_id: `n${i}` } }, text);
    expect([text, status, body.amount]).toEqual([text, 201, 10]);
  }
});

test("ids, models and lists of the body: each way to be wrong is refused, with the field named", async () => {
  await open(1000);
  const good = { ...RESERVE, amount: 1 };
  const items = { ...RESERVE, items: [row] };
  const models = ["", " ", "x".repeat(129), "a\nb", "a\u0000b", "a\u2028b", 4, null];
  const rows: [string, unknown[], string[]][] = [
    ...["hold_id", "tenant", "sub_account", "provider", "pool"].map((field) =>
      badRow({ ...good, provider: "openai" }, field, BAD_IDS),
    ),
    badRow(good, "model", models),
    badRow(good, "ttl_seconds", [0, 3601]),
    ["no amount", [RESERVE], ["amount"]],
    ["both", [{ ...items, amount: 1 }], ["amount"]],
    ["one model's fields beside items", [{ ...items, model: "m", tokens: 1 }], ["model", "tokens"]],
    badRow(items, "items", [[], null, {}, "m", Array.from({ length: 65 }, () => row)]),
    ["a sum above 2^53-1", [{ ...RESERVE, items: [row, { ...row, amount: 2 ** 53 - 1 }] }], ["items"]],
    ["an unknown field of an item", [{ ...RESERVE, items: [{ ...row, ammount: 1 }] }], ["items.0.ammount"]],
    ["no model of an item", [{ ...RESERVE, items: [{ amount: 1 }] }], ["items.0.model"]],
    ["nothing", [{}], ["hold_id", "tenant", "sub_account"]],
    ["no object", [[], '"text"', "null", "1"], ["body"]],
  ];
  const before = await dump(redis);
  const all = rows.flatMap(([, bodies, fields]) => bodies.map((body) => [body, fields] as const));
  await many(all.length, async (i) => {
    const [body, fields = []] = all[i] ?? [];
    const { fields: told, ...said } = refusedFields(await internal("/holds", body));
    expect([body, said, fields.filter((name) => !told.includes(name))]).toEqual([
      body,
      { status: 400, code: "invalid_request", told: true },
      [],
    ]);
  });
  expect(await dump(redis)).toEqual(before);
});

test("an id in the path is one, too", async () => {
  await open(1000);
  for (const verb of ["settle", "void", "extend"] as const) {
    const more = { settle: { amount: 1 }, void: {}, extend: { ttl_seconds: 9 } }[verb];
    for (const bad of ["a%20b", "a:b", ".a", "%C3%A9", "x".repeat(65), "a~b", "%7Ba%7D", "a%0A"])
      expect([bad, refusedFields(await end(bad, verb, more))]).toEqual([bad, invalid("hold_id")]);
  }
  const read = await send(worker, { method: "GET", path: `${HOLDS}/a%20b?tenant=a%20b` });
  expect(refusedFields(read).status).toBe(400);
});
