// Reading JSON as it passes: a number taken from a prompt's text, or missed in a large answer, if these failed.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Facts } from "../../src/gateway/meter/facts.ts";
import { JsonScanner } from "../../src/gateway/meter/scanner.ts";
import { compile } from "../../src/gateway/meter/shape.ts";
import { estimateTokens } from "../../src/gateway/meter/tokens.ts";
import { bytesOf, cutAt } from "./meter-kit.ts";

const shape = compile({ usage: "value", a: { usage: "value", text: "text" }, text: "text" });

interface Document {
  facts: Facts;
  quarters: number;
  complete: boolean;
}

function scan(text: string, places: readonly number[] = []): Document[] {
  const documents: Document[] = [];
  const scanner = new JsonScanner(shape, (complete) => {
    documents.push({ facts: scanner.facts, quarters: scanner.quarters, complete });
  });
  for (const piece of cutAt(bytesOf(text), places)) scanner.feed(piece, 0, piece.length);
  scanner.reset();
  return documents;
}

const key = fc.constantFrom(
  "usage",
  "a",
  "text",
  "b",
  'q"',
  "\\",
  "us\\age",
  "{",
  "北",
  "a name of more than thirty-two bytes",
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1.5e10),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5 }),
  ),
}));

const objectOf = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : undefined;

test("any document says what JSON.parse says, pretty or not, cut anywhere", () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, json, { maxKeys: 5 }),
      fc.constantFrom(undefined, 1),
      fc.array(fc.nat(300)),
      (value, indent, places) => {
        const text = JSON.stringify(value, null, indent);
        const cuts = places.filter((place) => place < bytesOf(text).length);
        const [document, ...more] = scan(text, cuts);
        expect(more).toEqual([]);
        const parsed = JSON.parse(text);
        expect(document?.complete).toBe(true);
        expect(document?.facts.usage ?? null).toEqual(parsed.usage ?? null);
        // In a list the last object of the list counts; the shapes of the dialects have no value there.
        if (!Array.isArray(parsed.a)) {
          expect(document?.facts["a.usage"] ?? null).toEqual(objectOf(parsed.a)?.usage ?? null);
        }
        expect(scan(text)).toEqual([document]);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("text weighs, wherever it stands; what stands elsewhere does not", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), json, (text, other) => {
      const [document] = scan(JSON.stringify({ b: other, text, c: [{ text }] }));
      expect(Math.ceil((document?.quarters ?? 0) / 4)).toBe(estimateTokens(text));
    }),
  );
});

test.each<[string, string, Facts[]]>([
  ["two documents", '{"usage":1} {"usage":2}', [{ usage: 1 }, { usage: 2 }]],
  ["usage in a text", JSON.stringify({ text: '{"usage":1},"usage":2' }), [{}]],
  ["usage in another object", '{"tools":[{"usage":1}],"b":{"usage":2}}', [{}]],
  ["usage in the key of another", '{"x\\"usage":1}', [{}]],
  ["usage as a value", '{"b":"usage","c":1}', [{}]],
  ["usage that cannot be read", '{"usage":{"a":}}', [{ usage: undefined }]],
  ["a list", '[{"usage":1}]', []],
  ["no JSON", 'so {"usage":1}', []],
  ["what breaks off", '{"usage":1,"b":"', [{ usage: 1 }]],
  ["a number that breaks off", '{"usage":1', [{}]],
  ["closed too often", '{"usage":1}}}{"usage":2}', [{ usage: 1 }]],
])("%s", (_, text, facts) => {
  expect(scan(text).map((document) => document.facts)).toEqual(facts);
});

test("a value that matters is kept up to a bound, and what is nested without end costs nothing", () => {
  expect(scan(`{"usage":"${"x".repeat(20_000)}"}`, [5_000, 15_000])[0]?.facts).toEqual({ usage: {} });
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  expect(scan(`{"a":${deep},"b":${deep},"usage":7}`)[0]?.facts).toEqual({ usage: 7 });
});
