// Reads usage, text and errors out of a stream on its way, and drops the usage chunk that the client did not ask for.
import { BoundedBuffer } from "./buffer.ts";
import type { Dialect } from "./dialect.ts";
import { EventReader } from "./events.ts";
import type { Facts } from "./facts.ts";
import { errorOf } from "./failure.ts";
import { type Meter, type MeterStream, meterThrough, type Reading } from "./reading.ts";
import { JsonScanner } from "./scanner.ts";
import { streamShapes } from "./shapes.ts";
import { Tally } from "./tally.ts";

export interface StreamOptions {
  /** openai_chat only: an event that has usage, but no choice, does not reach the client. */
  drop_usage_chunk: boolean;
}

/** No usage chunk is larger; an event that is still undecided then goes on to the client. */
const MOST_HELD_BYTES = 65_536;

const isUsageOnly = (facts: Facts) =>
  typeof facts.usage === "object" && facts.usage !== null && !facts.choices && !errorOf(facts);

function joined(parts: readonly Uint8Array[]): Uint8Array | undefined {
  if (parts.length < 2) return parts[0];
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export class StreamMeter implements Meter {
  readonly #drops: boolean;
  readonly #tally: Tally;
  readonly #scanner: JsonScanner;
  readonly #events: EventReader;
  /** The beginning of an event that may have to be dropped, from earlier chunks. */
  readonly #held = new BoundedBuffer(MOST_HELD_BYTES);
  #parts: Uint8Array[] = [];
  #chunk: Uint8Array = new Uint8Array(0);
  /** How much of the chunk is settled, sent or dropped, and where in it the current event begins. */
  #settled = 0;
  #event_from = 0;
  #usage_only = false;
  /** Something of the event is for the client. */
  #wanted = false;
  #dropped = false;

  constructor(dialect: Dialect, { drop_usage_chunk }: StreamOptions) {
    this.#drops = drop_usage_chunk && dialect === "openai_chat";
    this.#tally = new Tally(dialect);
    this.#scanner = new JsonScanner(streamShapes[dialect], (complete) => this.#documentEnded(complete));
    this.#events = new EventReader({
      data: (bytes, from, to) => this.#scanner.feed(bytes, from, to),
      ended: (at, event) => this.#eventEnded(at, event),
      endedLate: (at) => {
        if (this.#dropped) this.#settled = at;
        this.#event_from = at;
      },
    });
  }

  push(bytes: Uint8Array): Uint8Array | undefined {
    this.#tally.bytes += bytes.length;
    this.#begin(bytes);
    this.#events.feed(bytes);
    if (!this.#drops) return bytes;
    this.#holdOrSend();
    return joined(this.#parts);
  }

  end(): Uint8Array | undefined {
    this.#begin(new Uint8Array(0));
    this.#events.end();
    return joined(this.#parts);
  }

  reading(): Reading {
    return this.#tally.reading(this.#scanner.quarters);
  }

  #begin(bytes: Uint8Array) {
    this.#chunk = bytes;
    this.#settled = 0;
    this.#event_from = 0;
    this.#parts = [];
  }

  #documentEnded(complete: boolean) {
    const { facts, quarters } = this.#scanner;
    this.#tally.add(facts, quarters);
    if (complete && isUsageOnly(facts)) this.#usage_only = true;
    else this.#wanted = true;
  }

  #eventEnded(at: number, { has_data, named_error }: { has_data: boolean; named_error: boolean }) {
    if (has_data) this.#tally.events += 1;
    if (this.#scanner.word.trim() === "[DONE]") this.#tally.done = true;
    if (this.#scanner.word !== "") this.#wanted = true;
    this.#scanner.reset();
    if (named_error) this.#tally.error ??= {};
    this.#dropped = this.#drops && this.#usage_only && !this.#wanted;
    if (this.#dropped) {
      this.#held.clear();
      this.#send(this.#event_from);
      this.#settled = at;
    } else this.#sendHeld();
    this.#event_from = at;
    this.#usage_only = false;
    this.#wanted = false;
  }

  /** At the end of a chunk: an event that may be a usage chunk waits for its end, anything else goes. */
  #holdOrSend() {
    const { length } = this.#chunk;
    const begun = this.#event_from < length || this.#held.length > 0;
    this.#wanted ||= this.#scanner.facts.choices === true || this.#scanner.word !== "";
    if (begun && !this.#wanted && this.#held.append(this.#chunk.subarray(this.#event_from))) {
      this.#send(this.#event_from);
      return;
    }
    if (begun) this.#wanted = true;
    this.#sendHeld();
    this.#send(length);
  }

  #sendHeld() {
    if (this.#held.length > 0) this.#parts.push(this.#held.take());
  }

  #send(to: number) {
    const whole = this.#settled === 0 && to === this.#chunk.length;
    if (to > this.#settled) this.#parts.push(whole ? this.#chunk : this.#chunk.subarray(this.#settled, to));
    this.#settled = to;
  }
}

export const meterStream = (dialect: Dialect, options: StreamOptions): MeterStream =>
  meterThrough(new StreamMeter(dialect, options));
