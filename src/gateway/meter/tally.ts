// Adds up what the documents of a response say, and makes the reading of it.
import type { Usage } from "../../catalog/cost.ts";
import type { Dialect } from "./dialect.ts";
import type { Facts } from "./facts.ts";
import { errorOf } from "./failure.ts";
import type { MeteredError, Reading } from "./reading.ts";
import { tokensOfQuarters } from "./tokens.ts";
import { fieldsOf, mergedUsage, usageOfField } from "./usage.ts";

const ENDS = new Set<unknown>([
  "message_stop",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
]);
const USAGES = ["message.usage", "response.usage", "usage"];

export class Tally {
  events = 0;
  bytes = 0;
  done = false;
  error: MeteredError | undefined;
  readonly #dialect: Dialect;
  #quarters = 0;
  #usage: Usage | undefined;
  #quarters_at_usage = 0;
  /** Anthropic's, before they are checked: one event says the prompt, another the output. */
  #fields: Readonly<Record<string, unknown>> = {};

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  add(facts: Facts, quarters: number) {
    // It repeats the tool's name that was counted when the item was added.
    if (facts.type !== "response.output_item.done") this.#quarters += quarters;
    for (const path of USAGES) if (facts[path]) this.#count(facts[path]);
    if (ENDS.has(facts.type)) this.done = true;
    this.error ??= errorOf(facts);
  }

  /** The last one counts: they are cumulative where there are several. */
  #count(said: unknown) {
    this.#fields =
      this.#dialect === "anthropic_messages" ? mergedUsage(this.#fields, fieldsOf(said)) : fieldsOf(said);
    const usage = usageOfField(this.#dialect, this.#fields);
    if (!usage) return;
    this.#usage = usage;
    this.#quarters_at_usage = this.#quarters;
  }

  /** `unfinished`: quarters of a document of which the end is still to come. */
  reading(unfinished: number): Reading {
    const quarters = this.#quarters + unfinished;
    const { events, bytes, done, error } = this;
    return {
      ...this.#usageAt(quarters),
      delivered_tokens: tokensOfQuarters(quarters),
      done,
      ...(error && { error: { ...error } }),
      events,
      bytes,
    };
  }

  #usageAt(quarters: number): Pick<Reading, "usage" | "partial_usage"> {
    const [usage, before] = [this.#usage, this.#quarters_at_usage];
    if (!usage) return {};
    if (quarters === before) return { usage };
    const since = usage.output + tokensOfQuarters(quarters - before);
    // What a stream says at its beginning about its output is about the first of what follows.
    const output = before === 0 ? Math.max(usage.output, tokensOfQuarters(quarters)) : since;
    return { partial_usage: { ...usage, output } };
  }
}
