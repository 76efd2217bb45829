// A field's text in JSON: a caller's metadata that comes back with other digits, or cut off, if these failed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldsOf, fieldText, setField, splice, withFieldText } from "../../src/json-text.ts";

test.each([
  ['{"a":1}', "1"],
  ['{ "a" : { "b" : [ 1 , 2 ] } , "c" : 3 }', '{ "b" : [ 1 , 2 ] }'],
  ['{"b":{"a":1},"a":2}', "2"],
  ['{"b":[{"a":1}],"c":"a"}', undefined],
  ['{"a":"}{\\":,"}', '"}{\\":,"'],
  ['{"x":"\\\\","a":"y"}', '"y"'],
  ['{"\\u0061":15947634569000323}', "15947634569000323"],
  ['{"a":1,"a":2}', "2"],
  ['{"a":null}', "null"],
  ["{}", undefined],
  ["[]", undefined],
  ['"a"', undefined],
  ['{"n":{"a":[]},"a":[]}', "[]"],
])("%s: a is %s", (json, text) => {
  expect(fieldText(json, "a")).toBe(text);
});

test("any field of any JSON, pretty or not, is found as JSON.parse finds it", () => {
  const keys = fc.constantFrom("a", "b", 'q"', "\\", "é", ":", "{");
  const object = fc.dictionary(keys, fc.jsonValue(), { maxKeys: 6 });
  fc.assert(
    fc.property(object, keys, fc.constantFrom(undefined, 2), (value, key, indent) => {
      const text = fieldText(JSON.stringify(value, null, indent), key);
      expect(text === undefined ? undefined : JSON.parse(text)).toEqual(
        key in value ? JSON.parse(JSON.stringify(value[key])) : undefined,
      );
    }),
  );
});

test("a long string and a deep value cost no more than their length", () => {
  const long = JSON.stringify("\\".repeat(500_000));
  const deep = "[".repeat(5_000) + "]".repeat(5_000);
  const json = `{"x":${long},"deep":${deep},"a":7}`;
  expect([fieldText(json, "a"), fieldText(json, "deep"), fieldText(json, "x")]).toEqual(["7", deep, long]);
});

test("an object with a field that is text already", () => {
  expect(withFieldText({ a: 1 }, "b", "15947634569000323")).toBe('{"a":1,"b":15947634569000323}');
});

test.each([
  ['{"a":1}', "2", '{"a":2}'],
  ['{"b":1}', "2", '{"a":2,"b":1}'],
  ["{}", "2", '{"a":2}'],
  ['{"a" : [1] ,"b":{"a":1},"a":"}"}', "{}", '{"a" : {} ,"b":{"a":1},"a":{}}'],
])("%s with a set to %s is %s", (json, text, set) => {
  expect(splice(json, setField(json, "a", text))).toBe(set);
});

test("edits are made in the order of the text, whichever way they are given", () => {
  const edits = [
    { start: 3, end: 4, text: "D" },
    { start: 1, end: 1, text: "x" },
  ];
  expect(splice("abcd", edits)).toBe("axbcD");
});

test("fields that stand there twice are both found", () => {
  expect(fieldsOf('{"a":1, "\\u0061" : 22 }').map(({ name, start, end }) => [name, start, end])).toEqual([
    ["a", 5, 6],
    ["a", 19, 21],
  ]);
});

test("ten million characters of escapes, structure and depth are read at once", () => {
  const text = `{"s":${JSON.stringify('\\"'.repeat(1_000_000))},"n":[${"1,".repeat(1_000_000)}1],"d":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
  const started_at_ms = performance.now();
  expect(fieldsOf(text).map(({ name }) => name)).toEqual(["s", "n", "d"]);
  expect(performance.now() - started_at_ms).toBeLessThan(5_000);
});
