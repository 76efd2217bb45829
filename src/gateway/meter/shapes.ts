// Where each dialect says what was counted, what was delivered and what went wrong; a stream and a whole body apart.
import type { Dialect } from "./dialect.ts";
import { compile, type Node, type Shape } from "./shape.ts";

/** Of a failure without an `error` object: OpenAI's `error` events, and servers that put it at the top. */
const failure: Shape = { type: "value", code: "value", message: "value", error: "value" };

const chatText: Shape = {
  content: "text",
  reasoning: "twin", // vLLM says it under both names
  reasoning_content: "twin",
  refusal: "text",
  audio: { transcript: "text" },
  function_call: { name: "text", arguments: "text" },
  tool_calls: { function: { name: "text", arguments: "text" }, custom: { name: "text", input: "text" } },
};
/** Some servers repeat the whole text as `message` at the end of a stream, so each form reads its own only. */
const chat = (text: Shape): Shape => ({ ...failure, usage: "value", choices: text });

const counts: Shape = { ...failure, usage: "value" };

const streams: Record<Dialect, Shape> = {
  openai_chat: chat({ delta: chatText, text: "text" }),
  openai_embeddings: counts,
  openai_responses: {
    ...failure,
    response: { usage: "value", error: "value" },
    delta: "text",
    item: { name: "text" },
  },
  anthropic_messages: {
    type: "value",
    error: "value",
    message: { usage: "value" },
    usage: "value",
    content_block: { text: "text", thinking: "text", name: "text", input: "text" },
    delta: { text: "text", thinking: "text", partial_json: "text" },
  },
};

const bodies: Record<Dialect, Shape> = {
  openai_chat: chat({ message: chatText, text: "text" }),
  openai_embeddings: counts,
  openai_responses: {
    ...counts,
    status: "value",
    output: {
      name: "text",
      arguments: "text",
      input: "text",
      content: { text: "text", refusal: "text" },
      summary: { text: "text" },
    },
  },
  anthropic_messages: {
    ...counts,
    content: { text: "text", thinking: "text", name: "text", input: "text" },
  },
};

const compiled = (shapes: Record<Dialect, Shape>) =>
  Object.fromEntries(Object.entries(shapes).map(([dialect, shape]) => [dialect, compile(shape)])) as Record<
    Dialect,
    Node
  >;

export const streamShapes = compiled(streams);
export const bodyShapes = compiled(bodies);
