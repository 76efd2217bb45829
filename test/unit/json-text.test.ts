// A field's text in JSON: a caller's metadata that comes back with other digits, or cut off, if these failed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldText, withFieldText } from "../../src/json-text.ts";

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
