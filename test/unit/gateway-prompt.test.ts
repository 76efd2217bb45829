// The bound of a prompt: a hold that its cost leaves behind, or funds refused for a picture's bytes, if these failed.
import { expect, test } from "vitest";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";
import { readRequest } from "../../src/gateway/request.ts";

const PNG = "iVBORw0KGgo".repeat(1000);
const tokensOf = (dialect: Dialect, fields: string) => {
  const request = readRequest(dialect, `{"model":"m","max_tokens":1,${fields}}`);
  if ("field" in request) throw new Error(request.message);
  return [request.prompt_tokens, request.images];
};

test.each<[string, Dialect, string, number, number]>([
  ["bytes, not characters", "openai_chat", '"messages":["北京😀"]', 5, 0],
  ["escapes count as what they mean", "openai_chat", '"messages":["\\u5317\\u4eac"]', 3, 0],
  ["half a token is one", "openai_chat", '"messages":["a"]', 1, 0],
  ["nothing", "openai_chat", '"messages":[]', 0, 0],
  [
    "what no model reads",
    "openai_chat",
    '"user":"long name","metadata":{"a":"long"},"messages":["ab"]',
    1,
    0,
  ],
  [
    "values of messages without their keys",
    "openai_chat",
    '"messages":[{"role":"user","content":"ab"}]',
    3,
    0,
  ],
  ["numbers of messages", "openai_chat", '"messages":[123456,true,null]', 0, 0],
  ["tools with their keys", "openai_chat", '"tools":[{"name":"f"}]', 3, 0],
  ["the schema of an answer", "openai_chat", '"response_format":{"a":[1,null]}', 3, 0],
  ["a field that is new tomorrow", "openai_chat", '"context":["abcd"]', 2, 0],
  [
    "instructions",
    "openai_responses",
    '"instructions":"abcd","input":[{"role":"user","content":"ab"}]',
    5,
    0,
  ],
  ["the format of a text", "openai_responses", '"input":"","text":{"format":{"type":"json_schema"}}', 11, 0],
  ["system", "anthropic_messages", '"system":[{"type":"text","text":"abcd"}],"messages":[]', 4, 0],
  [
    "what a tool was given",
    "anthropic_messages",
    '"messages":[{"type":"tool_use","name":"f","input":{"key":12}}]',
    7,
    0,
  ],
  ["embeddings of a text", "openai_embeddings", '"input":"abcd"', 2, 0],
  ["embeddings of texts", "openai_embeddings", '"input":["ab","cdef"]', 3, 0],
  ["embeddings of tokens", "openai_embeddings", '"input":[1,20,300]', 3, 0],
  ["embeddings of lists of tokens", "openai_embeddings", '"input":[[1,20],[300]]', 3, 0],
  ["numbers elsewhere", "openai_embeddings", '"dimensions":256,"input":[1]', 1, 0],
  [
    "a picture, chat",
    "openai_chat",
    `"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${PNG}","detail":"low"}}]}]`,
    6,
    1,
  ],
  [
    "a picture elsewhere on the web",
    "openai_chat",
    '"messages":[{"type":"image_url","image_url":{"url":"https://a.example"}}]',
    13,
    1,
  ],
  [
    "a picture, responses",
    "openai_responses",
    `"input":[{"type":"input_image","image_url":"data:image/png;base64,${PNG}"}]`,
    6,
    1,
  ],
  [
    "a picture that was made before",
    "openai_responses",
    `"input":[{"type":"image_generation_call","result":"${PNG}"}]`,
    11,
    1,
  ],
  [
    "a picture, messages",
    "anthropic_messages",
    `"messages":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${PNG}"}}]`,
    10,
    1,
  ],
  [
    "pictures in a tool's result",
    "anthropic_messages",
    `"messages":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","data":"${PNG}"}},{"type":"image","source":{"type":"file","file_id":"f"}}]}]`,
    16,
    2,
  ],
  ["a text that only says it is one", "openai_chat", '"messages":["data:image/png;base64,AAAA"]', 13, 0],
  [
    "a text beside the payload",
    "anthropic_messages",
    '"messages":[{"type":"image","text":"abcd","source":{"type":"base64","data":"AAAAAAAA"}}]',
    8,
    1,
  ],
  [
    "a file that is no picture counts whole",
    "anthropic_messages",
    '"messages":[{"type":"document","source":{"type":"base64","data":"AAAAAAAA"}}]',
    11,
    0,
  ],
  [
    "a schema that speaks of pictures",
    "openai_chat",
    '"tools":[{"type":"image_url","image_url":"data:image/png"}]',
    18,
    0,
  ],
])("the bound of a prompt: %s", (_, dialect, fields, prompt_tokens, images) => {
  expect(tokensOf(dialect, fields)).toEqual([prompt_tokens, images]);
});

test("case C27: a prompt of 100,000 tokens is held even with one token of answer", () => {
  expect(tokensOf("openai_chat", `"messages":["${"word ".repeat(100_000)}"]`)).toEqual([250_000, 0]);
});

test("a body that is as deep or as long as it may be neither overflows nor stalls", () => {
  const deep = `${"[".repeat(1_000_000)}"abcd"${"]".repeat(1_000_000)}`;
  const wide = `[${'{"content":"ab"},'.repeat(200_000)}"ab"]`;
  const started_at_ms = performance.now();
  expect(tokensOf("openai_chat", `"messages":${deep}`)).toEqual([2, 0]);
  expect(tokensOf("openai_chat", `"messages":${wide}`)).toEqual([200_001, 0]);
  expect(performance.now() - started_at_ms).toBeLessThan(10_000);
});
