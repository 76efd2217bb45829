// Anthropic's messages, streamed and whole, and the count of their tokens.
import { z } from "zod";
import { type Ask, event, parse, type Reply } from "./reply.ts";
import { answer, bits, idOf, sample, textOf, tokensOf } from "./text.ts";

const prompt = {
  model: z.string(),
  messages: z
    .array(z.looseObject({ role: z.enum(["user", "assistant"]), content: z.unknown().optional() }))
    .min(1),
  system: z.unknown().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
};
const countRequest = z.looseObject(prompt);
const request = z.looseObject({ ...prompt, max_tokens: z.int().min(1), stream: z.boolean().nullish() });
type Request = z.output<typeof request>;

const inputTokens = ({ messages, system, tools }: z.output<typeof countRequest>) =>
  tokensOf(textOf([system, messages, tools]));

export const countTokens = ({ body }: Ask): Reply => ({
  json: { input_tokens: inputTokens(parse(countRequest, body)) },
});

function toolUse({ tools, tool_choice, messages }: Request, id: string) {
  const tool = tools?.find((each) => each.name === tool_choice?.name) ?? tools?.[0];
  const content = messages.at(-1)?.content;
  const answered = Array.isArray(content) && content.some((block) => block?.type === "tool_result");
  if (!tool || tool_choice?.type === "none" || answered) return undefined;
  return { type: "tool_use", id: `toolu_${id}`, name: tool.name, input: sample(tool.input_schema) };
}

export function messages({ text, body, behaviour }: Ask): Reply {
  const asked = parse(request, body);
  const id = idOf(text);
  const said = answer(asked.max_tokens, behaviour);
  const tool = toolUse(asked, id);
  const input = inputTokens(asked);
  const cached = Math.min(behaviour.cached_tokens, input);
  const output = tool ? tokensOf(JSON.stringify(tool.input)) : said.tokens;
  const usage = (output_tokens: number) => {
    if (behaviour.usage === "none") return {};
    if (behaviour.usage === "null") return { usage: null };
    return {
      usage: {
        input_tokens: input - cached,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
        output_tokens,
        service_tier: "standard",
      },
    };
  };
  const head = { id: `msg_${id}`, type: "message", role: "assistant", model: asked.model };
  const stop_reason = tool ? "tool_use" : said.limited ? "max_tokens" : "end_turn";
  if (!asked.stream) {
    const content = tool ? [tool] : [{ type: "text", text: said.pieces.join("") }];
    return { json: { ...head, content, stop_reason, stop_sequence: null, ...usage(output) } };
  }
  const block = tool ? { ...tool, input: {} } : { type: "text", text: "" };
  const deltas = tool
    ? bits(JSON.stringify(tool.input)).map((bit) => ({ type: "input_json_delta", partial_json: bit }))
    : said.pieces.map((piece) => ({ type: "text_delta", text: piece }));
  return { events: stream({ head, block, deltas, stop_reason, first: usage(1), last: usage(output) }) };
}

interface Plan {
  head: object;
  block: object;
  deltas: object[];
  stop_reason: string;
  /** Usage in message_start, and the cumulative one in message_delta. */
  first: object;
  last: object;
}

function* stream({ head, block, deltas, stop_reason, first, last }: Plan): Generator<string> {
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, ...first };
  yield event({ type: "message_start", message });
  yield event({ type: "content_block_start", index: 0, content_block: block });
  yield event({ type: "ping" });
  for (const delta of deltas) yield event({ type: "content_block_delta", index: 0, delta });
  yield event({ type: "content_block_stop", index: 0 });
  yield event({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, ...last });
  yield event({ type: "message_stop" });
}
