// What the gateway reads of a request: a hold that is too small, or a call that is refused without a reason, if these failed.
import { expect, test } from "vitest";
import { readCountRequest, readRequest } from "../../src/gateway/request.ts";

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';
const chat = (fields: string) => readRequest("openai_chat", `{"model":"m",${MESSAGES}${fields}}`);
const claude = (fields: string) => readRequest("anthropic_messages", `{"model":"m",${MESSAGES}${fields}}`);
const responses = (fields: string) => readRequest("openai_responses", `{"model":"m","input":"hi"${fields}}`);

test("all that is read of a call", () => {
  const text = `{"model":" m ",${MESSAGES},"max_tokens":7,"n":4,"stream":true,"stream_options":{"include_usage":true}}`;
  expect(readRequest("openai_chat", text)).toEqual({
    model: "m",
    stream: true,
    max_output: 7,
    n: 4,
    wants_usage: true,
    prompt_tokens: 3,
    images: 0,
  });
});

test.each([
  ["chat, absent", chat(""), undefined],
  ["chat, null", chat(',"max_tokens":null,"max_completion_tokens":null'), undefined],
  ["chat", chat(',"max_tokens":8000'), 8000],
  ["chat, the newer name", chat(',"max_completion_tokens":9'), 9],
  ["chat, both", chat(',"max_tokens":8000,"max_completion_tokens":9'), 9],
  ["chat, the most", chat(',"max_tokens":1e9'), 10 ** 9],
  ["responses", responses(',"max_output_tokens":5'), 5],
  ["responses, a name of another dialect", responses(',"max_tokens":0.5'), undefined],
  ["messages", claude(',"max_tokens":5'), 5],
  ["messages, a name of another dialect", claude(',"max_tokens":5,"max_completion_tokens":9'), 5],
  ["embeddings have no answer", readRequest("openai_embeddings", '{"model":"m","input":"hi"}'), 0],
  ["a count has no answer", readCountRequest(`{"model":"m",${MESSAGES}}`), 0],
])("case C27: the limit of an answer, %s", (_, request, max_output) => {
  expect(request).toMatchObject({ max_output });
});

const INTEGER = "an integer of 1 to 1000000000";
test.each([
  ...['"8000"', "0", "-1", "1e12", "1.5", "true", "[]"].flatMap(
    (value): [string, object, string, string][] => [
      [value, chat(`,"max_tokens":${value}`), "max_tokens", INTEGER],
      [value, chat(`,"max_completion_tokens":${value}`), "max_completion_tokens", INTEGER],
      [value, responses(`,"max_output_tokens":${value}`), "max_output_tokens", INTEGER],
      [value, claude(`,"max_tokens":${value}`), "max_tokens", INTEGER],
    ],
  ),
  ["null, where the dialect knows none", claude(',"max_tokens":null'), "max_tokens", INTEGER],
  ["absent, where the dialect needs it", claude(""), "max_tokens", "is required"],
  ["0 answers", chat(',"n":0'), "n", "an integer of 1 to 128"],
  ["129 answers", chat(',"n":129'), "n", "an integer of 1 to 128"],
  ["4 as text", chat(',"n":"4"'), "n", "an integer of 1 to 128"],
  ["stream as text", chat(',"stream":"true"'), "stream", "true or false"],
  ["options that are no object", chat(',"stream_options":1'), "stream_options", "an object"],
  [
    "usage as text",
    chat(',"stream_options":{"include_usage":"yes"}'),
    "stream_options.include_usage",
    "true or false",
  ],
  ["an answer fetched later", responses(',"background":true'), "background", "is not supported"],
])("case C27: refused, and the field is named: %s", (_, request, field, message) => {
  expect(request).toEqual({ field, message });
});

test.each([
  ['{"messages":[]}', "model", "is required"],
  ['{"model":5}', "model", "a string of 1 to 128 printable characters"],
  ['{"model":" "}', "model", "1 to 128 printable characters"],
  [`{"model":"${"m".repeat(129)}"}`, "model", "1 to 128 printable characters"],
  ['{"model":"a\\nb"}', "model", "1 to 128 printable characters"],
  ["", "body", "must be a JSON object"],
  ["{", "body", "must be a JSON object"],
  ["[]", "body", "must be a JSON object"],
  ["null", "body", "must be a JSON object"],
  ['"model"', "body", "must be a JSON object"],
])("%s is refused", (text, field, message) => {
  expect(readRequest("openai_chat", text)).toEqual({ field, message });
});

test.each([
  ['{"model":"cheap","model":"dear"}', "model", "is given more than once"],
  ['{"model":"m","max_tokens":1,"max_tokens":9}', "max_tokens", "is given more than once"],
  ['{"model":"m","messages":[],"messages":["long"]}', "messages", "is given more than once"],
  ['{"model":"m","Model":"dear"}', "model", "is given more than once"],
  ['{"model":"m","N":128}', "n", "is written in lower case"],
  ['{"model":"m","max_to\\u212aens":9}', "max_tokens", "is written in lower case"],
  ['{"model":"m","\\u017ftream":true}', "stream", "is written in lower case"],
])("what another parser would read otherwise is refused: %s", (text, field, message) => {
  expect(readRequest("openai_chat", text)).toEqual({ field, message });
});

test("nested fields of one name, and unknown ones, are upstream's business", () => {
  expect(chat(',"x":{"n":0,"N":1},"logit_bias":{"1":-100}')).toMatchObject({ n: 1 });
});
