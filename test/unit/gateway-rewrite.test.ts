// The request as it goes upstream: a caller's digits, escapes or fields that change on the way, if these failed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { rewriteRequest } from "../../src/gateway/rewrite.ts";

const ASKED = '"stream_options":{"include_usage":true}';

test.each([
  [
    "its place and the space around it stay",
    '{ "a":1 ,\n "model" : "m" , "b":2}',
    '{ "a":1 ,\n "model" : "x" , "b":2}',
  ],
  ["big numbers stay", '{"model":"m","seed":15947634569000323}', '{"model":"x","seed":15947634569000323}'],
  [
    "escapes stay",
    '{"model":"m","s":"\\u00e9\\/\\ud83d\\ude00"}',
    '{"model":"x","s":"\\u00e9\\/\\ud83d\\ude00"}',
  ],
  ["each of two, whichever upstream reads", '{"model":"m","model":"n"}', '{"model":"x","model":"x"}'],
  ["a key in escapes", '{"\\u006dodel":"m"}', '{"\\u006dodel":"x"}'],
  ["only the outermost", '{"model":"m","tools":[{"model":"n"}]}', '{"model":"x","tools":[{"model":"n"}]}'],
  [
    "a text that looks like it",
    '{"s":"\\"model\\":\\"m\\"","model":"m"}',
    '{"s":"\\"model\\":\\"m\\"","model":"x"}',
  ],
])("the model: %s", (_, text, rewritten) => {
  expect(rewriteRequest(text, { model: "x" })).toBe(rewritten);
});

test("a name with quotes and a newline stays one string", () => {
  const name = 'a"b\\c\n}';
  expect(JSON.parse(rewriteRequest('{"model":"m"}', { model: name }))).toEqual({ model: name });
});

test.each([
  ["absent", '{ "model":"m"}', `{${ASKED}, "model":"m"}`],
  ["of an empty object", "{ }", `{${ASKED} }`],
  ["null", '{"stream_options": null }', '{"stream_options": {"include_usage":true} }'],
  ["empty", '{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
  ["false", '{"stream_options":{"include_usage" : false}}', '{"stream_options":{"include_usage" : true}}'],
  ["already true", '{"stream_options":{"include_usage":true}}', '{"stream_options":{"include_usage":true}}'],
  ["beside others", '{"stream_options":{ "x":1e2 }}', '{"stream_options":{"include_usage":true, "x":1e2 }}'],
  ["given twice", '{"stream_options":null,"stream_options":{}}', `{${ASKED},${ASKED}}`],
  ["no object: upstream refuses it itself", '{"stream_options":[1]}', '{"stream_options":[1]}'],
])("the usage is asked for, stream_options %s", (_, text, rewritten) => {
  expect(rewriteRequest(text, { include_usage: true })).toBe(rewritten);
});

test("both at once, also of an empty object", () => {
  expect(rewriteRequest("{}", { model: "x", include_usage: true })).toBe(`{${ASKED},"model":"x"}`);
});

test("nothing to change changes nothing", () => {
  const text = ' {"a" : 1.0, "model":"m" } \n';
  expect(rewriteRequest(text, {})).toBe(text);
  expect(rewriteRequest(text, { include_usage: false })).toBe(text);
});

const requests = fc.record(
  {
    model: fc.string(),
    messages: fc.jsonValue(),
    stream_options: fc.oneof(
      fc.constant(null),
      fc.record({ include_usage: fc.boolean(), x: fc.jsonValue() }, { requiredKeys: [] }),
    ),
    'q"}': fc.jsonValue(),
  },
  { requiredKeys: ["model"] },
);

test("any request: the fields are set, and all the rest is the same", () => {
  fc.assert(
    fc.property(requests, fc.string(), fc.constantFrom(undefined, 2, "\t"), (request, model, indent) => {
      const text = JSON.stringify(request, null, indent);
      const { stream_options, ...rest } = JSON.parse(text);
      const rewritten = rewriteRequest(text, { model, include_usage: true });
      expect(JSON.parse(rewritten)).toEqual({
        ...rest,
        model,
        stream_options: { ...stream_options, include_usage: true },
      });
    }),
  );
});

test("any request: byte for byte, apart from the model's value", () => {
  fc.assert(
    fc.property(requests, fc.constantFrom(undefined, 2), ({ model: _, ...rest }, indent) => {
      const mark = "\u0000model\u0000";
      const text = JSON.stringify({ ...rest, model: mark }, null, indent);
      const [before, after] = text.split(JSON.stringify(mark));
      expect(rewriteRequest(text, { model: "x" })).toBe(`${before}"x"${after}`);
    }),
  );
});
