// What the demo upstream can be told to do wrong, for which calls and how often.
import { z } from "zod";
import { errorKinds } from "./errors.ts";

/** Faults of the transport or of the stream; the `errorKinds` are whole answers. */
const faultKinds = [
  "hang", // no byte ever
  "reset", // the socket is reset before the first byte
  "reset_midstream", // the socket is reset after `after` events
  "stall", // nothing more comes after `after` events
  "cut", // the stream ends early, but properly
  "error_event", // the stream carries an error event after `after` events
  "error_body", // a 200 whose body is an error
  "redirect", // a 307 to `headers.location`, by default another path here
] as const;

/** Where a chat stream says its usage. `rejected`: the request's stream_options get a 400. */
const usageForms = ["no_choices", "empty_delta", "cumulative", "null", "none", "rejected"] as const;

export const behaviourSchema = z.strictObject({
  match: z
    .strictObject({
      api_key: z.string().optional(),
      model: z.string().optional(),
      path: z.string().optional(),
    })
    .optional(),
  /** How many matching calls it applies to; absent: all, until a reset. */
  times: z.int().min(1).optional(),
  kind: z.enum([...errorKinds, ...faultKinds]).optional(),
  /** Overrides the status of `kind`; without a kind it makes `body` the whole answer. */
  status: z.int().min(200).max(599).optional(),
  /** The Retry-After header, sent as it is. */
  retry_after: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.string().optional(),
  /** Events (for a JSON body: halves) sent before a fault in mid-stream. */
  after: z.int().min(0).default(2),
  /** Waited before each event. */
  delay_ms: z.int().min(0).default(0),
  usage: z.enum(usageForms).optional(),
  text: z.enum(["plain", "unicode"]).default("plain"),
  /** Length of the answer, whatever max_tokens says. */
  output_tokens: z.int().min(0).max(100_000).optional(),
  /** The part of the prompt that is said to come from a cache. */
  cached_tokens: z.int().min(0).default(0),
  /** Makes one event of the answer this large. */
  large_event_bytes: z.int().min(0).max(50_000_000).default(0),
});

export type Behave = z.input<typeof behaviourSchema>;
export type Behaviour = z.output<typeof behaviourSchema>;

export const wellBehaved: Behaviour = behaviourSchema.parse({});

export interface Asked {
  api_key: string;
  model: string | undefined;
  path: string;
}

/** The first behaviour that matches applies, and is gone after its `times`. */
export class Behaviours {
  #list: { behaviour: Behaviour; left: number }[] = [];

  add(behave: Behave) {
    const behaviour = behaviourSchema.parse(behave);
    this.#list.push({ behaviour, left: behaviour.times ?? Number.POSITIVE_INFINITY });
  }

  take(asked: Asked): Behaviour {
    const found = this.#list.find(
      ({ behaviour: { match } }) =>
        (match?.api_key === undefined || match.api_key === asked.api_key) &&
        (match?.model === undefined || match.model === asked.model) &&
        (match?.path === undefined || match.path === asked.path),
    );
    if (!found) return wellBehaved;
    found.left -= 1;
    if (found.left === 0) this.#list = this.#list.filter((each) => each !== found);
    return found.behaviour;
  }

  clear() {
    this.#list = [];
  }
}
