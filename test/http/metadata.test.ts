// Metadata of a hold: what a caller sent comes back byte for byte. An order's number that has lost its digits, if these failed.
import { describe, expect, test } from "vitest";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT, send } from "../support/ledger-routes.ts";
import { keys } from "../support/redis.ts";
import { ADMIN_KEY, INTERNAL_KEY, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const { open, reserve, end, refund, hold } = ledgerVerbsOf(worker);
useBooks(redis);

const HOLDS = "/api/internal/holds";
const HEAD = '{"hold_id":"h1","tenant":"acme","sub_account":"alice","amount":10';

/** As raw text, so that nothing here parses it. */
const reserveText = (text: string) => send(worker, { method: "POST", path: HOLDS }, { body: text });
const withMetadata = (text: string) => reserveText(`${HEAD},"metadata":${text}}`);

/** The reply of GET as it came over the wire. */
async function readText() {
  const { url } = { url: await worker.url() };
  const reply = await fetch(`${url}${HOLDS}/h1?tenant=acme`, { headers: { "x-internal-key": INTERNAL_KEY } });
  return reply.text();
}
const ofJournal = async () =>
  entriesOf(await redis.raw.xrange(keys.tenant("acme").journal_key, "-", "+"))
    .filter(({ hold: id }) => id === "h1")
    .map(({ kind, metadata }) => [kind, metadata]);

const PAD = 2_048 - Buffer.byteLength('{"pad":""}');

describe("case D36: comes back byte for byte, in GET and in the journal", () => {
  test.each([
    '{"order":15947634569000323,"tags":[],"note":"é"}',
    '{"a":{"b":{"c":[{},[],[[]],{"d":null}]}},"e":0.10,"f":1E+2,"g":-0,"h":1e309}',
    '{"k\\u0065y":"\\u00e9\\n\\"\\\\/","":"","metadata":{"metadata":1}}',
    '{ "spaced" :\t[ 1 ,\r\n 2 ] }',
    '"a string, with , and } and \\"metadata\\":"',
    '{"模型":"🙂","nul":"\\u0000","sep":"\u2028"}',
    "[]",
    "{}",
    "0",
    "true",
    "null",
    `{"pad":"${"x".repeat(PAD)}"}`,
    `{"pad":"${"é".repeat(PAD / 2)}"}`,
    '{"__proto__":1,"constructor":{"prototype":{}}}',
    '{"a":1,"a":2}',
  ])("%s", async (text) => {
    await open(1000);
    expect((await withMetadata(text)).status).toBe(201);
    const kept = `,"metadata":${text}}`;
    expect((await readText()).slice(-kept.length)).toBe(kept);
    expect((await withMetadata(text)).body.replayed).toBe(true);
    await end("h1", "settle", { amount: 5 });
    await refund("h1", "r1", 2);
    expect((await readText()).slice(-kept.length)).toBe(kept);
    expect(await ofJournal()).toEqual([
      ["settle", text],
      ["refund", text],
    ]);
  });
});

test("wherever it stands in the body, and however its name is written", async () => {
  await open(1000);
  const rest = '"hold_id":"h1","tenant":"acme","sub_account":"alice","amount":10';
  const texts = [
    `{"metadata":{"n":15947634569000323},${rest}}`,
    `\n{ ${rest} , "metadata"\n:\n{"n":15947634569000323}\n}\n`,
    `{${rest},"\\u006detadata":{"n":15947634569000323}}`,
    `{${rest},"metadata":{"first":1},"metadata":{"n":15947634569000323}}`, // of two the last counts
  ];
  for (const text of texts) {
    const { status, body } = await reserveText(text);
    expect([text, status < 300, body.amount]).toEqual([text, true, 10]);
    expect(await readText()).toContain(',"metadata":{"n":15947634569000323}}');
  }
});

test("none is null when it is read, and empty in the journal", async () => {
  await open(1000);
  await reserve("h1", 10);
  expect((await hold("h1")).body.metadata).toBeNull();
  await end("h1", "void");
  expect(await ofJournal()).toEqual([["void", ""]]);
});

test("other metadata is another request: other digits, other spaces, none at all", async () => {
  await open(1000);
  await withMetadata('{"order":15947634569000323}');
  for (const other of ['{"order":15947634569000324}', '{"order": 15947634569000323}', "null"]) {
    const { status, body } = await withMetadata(other);
    expect([other, status, body.code]).toEqual([other, 409, "idempotency_conflict"]);
  }
  expect((await reserveText(`${HEAD}}`)).body.code).toBe("idempotency_conflict");
});

test("2,049 bytes are one too many, in whatever characters, and nothing is held", async () => {
  await open(1000);
  for (const text of [`{"pad":"${"x".repeat(PAD + 1)}"}`, `"${"é".repeat(1024)}"`]) {
    const { status, body } = await withMetadata(text);
    const fault = { field: "metadata", message: "at most 2048 bytes" };
    expect([status, body.errors]).toEqual([400, [fault]]);
  }
  expect((await hold("h1")).status).toBe(404);
});

test("is not repeated by a refusal, a list, or another's reply", async () => {
  await open(1000);
  await withMetadata('"PLANTED"');
  const key = { authorization: `Bearer ${ADMIN_KEY}` };
  const answers = [
    await withMetadata('"PLANTED2"'),
    await end("h1", "settle", { amount: 1 }),
    await end("h1", "void"),
    await hold("h1", "other"),
    await worker.call("GET", "/api/admin/tenants/acme", key),
  ];
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain("PLANTED");
});
