// What upstream's answer means for its credential and for the call: the rules are the adapters'.
import { retryAfterMs } from "../leases/retry-after.ts";
import { type Adapter, byStatus, NOT_HERE, type Rule, SUCCESS, type Verdict } from "./adapters/adapter.ts";
import { anthropic } from "./adapters/anthropic.ts";
import { openai } from "./adapters/openai.ts";
import type { Dialect } from "./meter/dialect.ts";

const ADAPTERS: Record<Dialect, Adapter> = {
  openai_chat: openai,
  openai_responses: openai,
  openai_embeddings: openai,
  anthropic_messages: anthropic,
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Its first 64 kB; of a success it may be left out. */
  readonly body: string;
}

export interface Classified extends Verdict {
  /** As long as upstream asked for. */
  readonly retry_after_ms?: number;
}

type Fields = Record<string, unknown>;

/** An error as the dialects and their relatives write it. */
interface Said {
  readonly words: readonly string[];
  readonly message: string;
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null ? (value as Fields) : undefined;

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** `{ error: { … } }`, `{ error: "…" }`, `{ response: { error } }`, a list of one, or the fields at the top. */
function errorOf(body: unknown): Fields | undefined {
  const top = fieldsOf(Array.isArray(body) ? body[0] : body);
  const error = top?.error ?? fieldsOf(top?.response)?.error;
  if (typeof error === "string") return { ...top, message: error };
  if (fieldsOf(error)) return fieldsOf(error);
  const plain = top?.type === "error" || typeof top?.message === "string" || top?.detail !== undefined;
  return plain && !Array.isArray(top?.choices) ? top : undefined;
}

function said(error: Fields | undefined): Said {
  const { code, type, message, detail } = error ?? {};
  const words = [code, type, fieldsOf(error?.details)?.error_code];
  const text = typeof message === "string" ? message : typeof detail === "string" ? detail : "";
  return { words: words.filter((word) => word !== undefined && word !== null).map(String), message: text };
}

const fits = (rule: Rule, status: number, { words, message }: Said, body: string) =>
  (!rule.status || rule.status.includes(status)) &&
  (!rule.word || rule.word.some((word) => words.includes(word))) &&
  (!rule.says || rule.says.test(message)) &&
  (!rule.body || rule.body.test(body));

/** A number that stands for a status, or a word that the adapter knows; else the failure is upstream's. */
function statusInside({ statuses }: Adapter, { words }: Said): number {
  for (const word of words) {
    if (/^[45]\d\d$/.test(word)) return Number(word);
    if (Object.hasOwn(statuses, word)) return statuses[word] ?? 500;
  }
  return 500;
}

function judge(adapter: Adapter, status: number, error: Fields | undefined, body: string): Verdict {
  const words = said(error);
  const rule = adapter.rules.find((each) => fits(each, status, words, body));
  if (rule) return rule.verdict;
  // Not even an error of an API: a wrong base URL, or something between.
  return status === 404 && !error ? NOT_HERE : byStatus(status);
}

export function classify(dialect: Dialect, { status, headers, body }: Answer): Classified {
  const adapter = ADAPTERS[dialect];
  const error = errorOf(parsed(body));
  const inside = status >= 200 && status < 300;
  if (inside && !error) return SUCCESS;
  const verdict = judge(adapter, inside ? statusInside(adapter, said(error)) : status, error, body);
  const asked = headers.get("retry-after") ?? undefined;
  const retry_after_ms = retryAfterMs(asked, headers.get("date") ?? undefined);
  return retry_after_ms === undefined ? verdict : { ...verdict, retry_after_ms };
}

/** Of an error inside a stream, of which only the words are known. */
export function classifyWords(dialect: Dialect, error: { type?: string; code?: string }): Verdict {
  const adapter = ADAPTERS[dialect];
  return judge(adapter, statusInside(adapter, said(error)), error, "");
}
