// Responses as the demo upstream gives them, and ways to cut and to write them.
import { type Behave, behaviourSchema } from "../../dev/upstream/behave.ts";
import { chat } from "../../dev/upstream/chat.ts";
import { messages } from "../../dev/upstream/messages.ts";
import { embeddings } from "../../dev/upstream/models.ts";
import type { Ask, Reply } from "../../dev/upstream/reply.ts";
import { responses } from "../../dev/upstream/responses.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";
import type { Meter, Reading } from "../../src/gateway/meter/reading.ts";

const routes: Record<Dialect, (ask: Ask) => Reply> = {
  openai_chat: chat,
  openai_responses: responses,
  openai_embeddings: embeddings,
  anthropic_messages: messages,
};

const said = [{ role: "user", content: "How many loaves?" }];
const asked: Record<Dialect, object> = {
  openai_chat: { model: "m", messages: said, stream_options: { include_usage: true } },
  openai_responses: { model: "m", input: "How many loaves?" },
  openai_embeddings: { model: "m", input: "How many loaves?" },
  anthropic_messages: { model: "m", messages: said, max_tokens: 99 },
};

function replyOf(dialect: Dialect, behave: Behave, more: object): Reply {
  const body = { ...asked[dialect], ...more };
  return routes[dialect]({ text: JSON.stringify(body), body, behaviour: behaviourSchema.parse(behave) });
}

/** Few tokens, so that every cut of it can be tried. */
export function eventsOf(dialect: Dialect, behave: Behave = {}, more: object = {}): string[] {
  const reply = replyOf(dialect, { output_tokens: 5, ...behave }, { stream: true, ...more });
  if (!("events" in reply)) throw new Error("the demo upstream did not stream");
  return [...reply.events];
}

export const streamOf = (dialect: Dialect, behave?: Behave, more?: object) =>
  eventsOf(dialect, behave, more).join("");

export function bodyOf(dialect: Dialect, behave: Behave = {}, more: object = {}): string {
  const reply = replyOf(dialect, { output_tokens: 5, ...behave }, more);
  if (!("json" in reply)) throw new Error("the demo upstream streamed");
  return JSON.stringify(reply.json);
}

export const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...fields })}\n\n`;
export const content = (text: string, more: object = {}) =>
  chunk({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }], ...more });
export const counted = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
export const usageChunk = chunk({ choices: [], usage: counted(7, 3) });
export const DONE = "data: [DONE]\n\n";

export const bytesOf = (text: string) => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array) =>
  new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);

/** The pieces of `bytes` between the places. Copies, as they come from a network. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.slice(ends[i - 1] ?? 0, end));
}

export function pass(meter: Meter, pieces: readonly Uint8Array[]): { out: string; reading: Reading } {
  const parts = [...pieces.map((piece) => meter.push(piece)), meter.end()];
  return { out: textOf(Buffer.concat(parts.filter((part) => part !== undefined))), reading: meter.reading() };
}

/** Where a cut of `text` makes a difference: at which byte, or at all of them. */
export function cutsThatMatter(meter: () => Meter, text: string): string[] {
  const bytes = bytesOf(text);
  const whole = JSON.stringify(pass(meter(), [bytes]));
  const every = Array.from(bytes, (_, at) => at);
  const same = (places: number[]) => JSON.stringify(pass(meter(), cutAt(bytes, places))) === whole;
  const wrong = every.filter((at) => !same([at])).map((at) => `${at}: ${text.slice(0, at)}`);
  return same(every) ? wrong : [...wrong, "at every byte"];
}

/** The same text with other line ends, fields and the rest that the format of events allows. */
export const writings: Record<string, (text: string) => string> = {
  LF: (text) => text,
  CRLF: (text) => text.replaceAll("\n", "\r\n"),
  CR: (text) => text.replaceAll("\n", "\r"),
  "data: without a space": (text) => text.replaceAll("data: ", "data:"),
  "comments, alone and within events": (text) =>
    `: hello {"a"\n\n${text.replaceAll("data: ", ":ping\nid: 7\nretry: 10\ndata: ")}`,
  "event: lines": (text) => text.replaceAll("data: ", "event: chunk\ndata: "),
  "data over several lines": (text) => text.replaceAll(',"', ',\ndata: "').replaceAll("}", "\ndata:}"),
  "no last newline": (text) => text.trimEnd(),
  "one last newline": (text) => `${text.trimEnd()}\n`,
  "a byte order mark": (text) => `\uFEFF${text}`,
  "empty lines in between": (text) => `\n${text.replaceAll("\n\n", "\n\n\n\n")}`,
};
