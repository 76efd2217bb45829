// OpenAI's chat completions, streamed and whole.
import { z } from "zod";
import { Refusal } from "./errors.ts";
import { type Ask, data, parse, type Reply } from "./reply.ts";
import { type Answer, answer, bits, CREATED, idOf, sample, textOf, tokensOf } from "./text.ts";

const request = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).nullish(),
  tool_choice: z.unknown().optional(),
});
type Request = z.output<typeof request>;

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** A model that may use tools uses the first, unless the last message already is a tool's result. */
function toolCall({ tools, tool_choice, messages }: Request, id: string): Call | undefined {
  const first = tools?.[0]?.function;
  if (!first || tool_choice === "none" || messages.at(-1)?.role === "tool") return undefined;
  const named = (tool_choice as { function?: { name?: string } } | undefined)?.function?.name;
  const tool = tools?.find((each) => each.function.name === named)?.function ?? first;
  return { id: `call_${id}`, name: tool.name, arguments: JSON.stringify(sample(tool.parameters)) };
}

function usageOf(prompt: number, completion: number, cached: number) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Math.min(cached, prompt), audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function chat({ text, body, behaviour }: Ask): Reply {
  const asked = parse(request, body);
  const { usage: form, cached_tokens } = behaviour;
  if (form === "rejected" && asked.stream_options) {
    throw new Refusal("bad_request", "Unrecognized request argument supplied: stream_options");
  }
  const id = idOf(text);
  const call = toolCall(asked, id);
  const said = answer(asked.max_completion_tokens ?? asked.max_tokens, behaviour);
  const n = asked.n ?? 1;
  const prompt = tokensOf(textOf([asked.messages, asked.tools]));
  const each = call ? tokensOf(call.arguments) : said.tokens;
  const usage = usageOf(prompt, each * n, cached_tokens);
  const finish_reason = call ? "tool_calls" : said.limited ? "length" : "stop";
  const head = { id: `chatcmpl-${id}`, created: CREATED, model: asked.model, system_fingerprint: "fp_demo" };

  if (asked.stream) {
    const counted = asked.stream_options?.include_usage ? (form ?? "usual") : "none";
    return { events: stream({ head, n, said, call, finish_reason, form: counted, usage, prompt }) };
  }
  const message = call
    ? {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [
          { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } },
        ],
      }
    : { role: "assistant", content: said.pieces.join(""), refusal: null, annotations: [] };
  const choices = Array.from({ length: n }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason,
  }));
  const counts = form === "none" ? {} : { usage: form === "null" ? null : usage };
  return {
    json: { ...head, object: "chat.completion", choices, ...counts, service_tier: "default" },
  };
}

interface Plan {
  head: object;
  n: number;
  said: Answer;
  call: Call | undefined;
  finish_reason: string;
  form: string;
  usage: ReturnType<typeof usageOf>;
  prompt: number;
}

function* stream({ head, n, said, call, finish_reason, form, usage, prompt }: Plan): Generator<string> {
  let delivered = 0;
  const chunk = (choices: unknown[] | undefined, counts?: object) => {
    const running = form === "cumulative" ? usageOf(prompt, delivered, 0) : null;
    const last = counts ? { usage: counts } : form === "none" ? {} : { usage: running };
    return data({ ...head, object: "chat.completion.chunk", ...(choices && { choices }), ...last });
  };
  const each = (delta: object, reason: string | null = null) =>
    Array.from({ length: n }, (_, index) => ({ index, delta, logprobs: null, finish_reason: reason }));
  // Like the real service, one choice a chunk.
  const all = (delta: object, reason?: string) => each(delta, reason).map((choice) => chunk([choice]));

  if (call) {
    const start = { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    yield* all({ role: "assistant", content: null, tool_calls: [start], refusal: null });
    for (const bit of bits(call.arguments)) {
      yield* all({ tool_calls: [{ index: 0, function: { arguments: bit } }] });
    }
  } else {
    yield* all({ role: "assistant", content: "", refusal: null });
    for (const content of said.pieces) {
      delivered += n;
      yield* all({ content });
    }
  }
  if (form === "empty_delta") yield chunk(each({}, finish_reason), usage);
  else yield* all({}, finish_reason);
  if (form === "usual") yield chunk([], usage);
  if (form === "no_choices") yield chunk(undefined, usage);
  yield "data: [DONE]\n\n";
}
