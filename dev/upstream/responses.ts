// OpenAI's responses, streamed and whole.
import { z } from "zod";
import { type Ask, event, parse, type Reply } from "./reply.ts";
import { answer, bits, CREATED, idOf, sample, textOf, tokensOf } from "./text.ts";

const request = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.looseObject({})).min(1)]),
  instructions: z.string().nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  stream: z.boolean().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.unknown().optional(),
});
type Request = z.output<typeof request>;

function toolItem({ tools, tool_choice, input }: Request, id: string) {
  const tool = tools?.find((each) => each.type === "function");
  const answered = typeof input !== "string" && input.at(-1)?.type === "function_call_output";
  if (!tool || tool_choice === "none" || answered) return undefined;
  const args = JSON.stringify(sample(tool.parameters));
  return { id: `fc_${id}`, type: "function_call", call_id: `call_${id}`, name: tool.name, arguments: args };
}

const part = (text: string) => ({ type: "output_text", annotations: [], logprobs: [], text });

export function responses({ text, body, behaviour }: Ask): Reply {
  const asked = parse(request, body);
  const id = idOf(text);
  const said = answer(asked.max_output_tokens, behaviour);
  const tool = toolItem(asked, id);
  const limited = said.limited && !tool;
  const item = tool
    ? { ...tool, status: "completed" }
    : {
        id: `msg_${id}`,
        type: "message",
        status: limited ? "incomplete" : "completed",
        role: "assistant",
        content: [part(said.pieces.join(""))],
      };
  const input = tokensOf(textOf([asked.input, asked.instructions, asked.tools]));
  const output = tool ? tokensOf(tool.arguments) : said.tokens;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Math.min(behaviour.cached_tokens, input) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const counts = behaviour.usage === "none" || behaviour.usage === "null" ? { usage: null } : { usage };
  const start = { ...frame(asked, id), status: "in_progress", output: [], usage: null };
  const end = {
    ...start,
    status: limited ? "incomplete" : "completed",
    incomplete_details: limited ? { reason: "max_output_tokens" } : null,
    output: [item],
    ...counts,
  };
  return asked.stream ? { events: stream(start, end, item, said.pieces) } : { json: end };
}

const frame = (asked: Request, id: string) => ({
  id: `resp_${id}`,
  object: "response",
  created_at: CREATED,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: asked.instructions ?? null,
  max_output_tokens: asked.max_output_tokens ?? null,
  model: asked.model,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: asked.tool_choice ?? "auto",
  tools: asked.tools ?? [],
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {},
});

function* stream(start: object, end: { status: string }, item: object, pieces: string[]): Generator<string> {
  let sequence_number = 0;
  const say = (type: string, fields: object) =>
    event({ type, sequence_number: sequence_number++, ...fields });

  yield say("response.created", { response: start });
  yield say("response.in_progress", { response: start });
  yield* "arguments" in item ? toolEvents(say, item) : textEvents(say, item, pieces);
  yield say("response.output_item.done", { output_index: 0, item });
  yield say(`response.${end.status}`, { response: end });
}

type Say = (type: string, fields: object) => string;

function* toolEvents(say: Say, item: { id?: string; arguments?: unknown }): Generator<string> {
  const at = { item_id: item.id, output_index: 0 };
  const empty = { ...item, status: "in_progress", arguments: "" };
  yield say("response.output_item.added", { output_index: 0, item: empty });
  for (const delta of bits(String(item.arguments))) {
    yield say("response.function_call_arguments.delta", { ...at, delta });
  }
  yield say("response.function_call_arguments.done", { ...at, arguments: item.arguments });
}

function* textEvents(say: Say, item: { id?: string }, pieces: string[]): Generator<string> {
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  const text = pieces.join("");
  yield say("response.output_item.added", {
    output_index: 0,
    item: { ...item, status: "in_progress", content: [] },
  });
  yield say("response.content_part.added", { ...at, part: part("") });
  for (const delta of pieces) yield say("response.output_text.delta", { ...at, delta, logprobs: [] });
  yield say("response.output_text.done", { ...at, text, logprobs: [] });
  yield say("response.content_part.done", { ...at, part: part(text) });
}
