// What a meter can say of a response, at any time while it passes.
import type { Usage } from "../../catalog/cost.ts";

/** Of an error that came with status 200. Its text is not kept: it may repeat a key or a prompt. */
export interface MeteredError {
  type?: string;
  code?: string;
  message_bytes?: number;
}

export interface Reading {
  /** What the upstream counted, and nothing was delivered since: exact. */
  usage?: Usage;
  /** The upstream has counted, but text came after it: the prompt as it said, the output raised by the estimate. */
  partial_usage?: Usage;
  /** The estimate for all text delivered so far. */
  delivered_tokens: number;
  /** The dialect's own end was seen: `[DONE]`, `message_stop`, `response.completed` and its like; the end of a body's JSON. */
  done: boolean;
  error?: MeteredError;
  /** Events with data, the dropped one included; 0 for a body. */
  events: number;
  /** As they came from the upstream. */
  bytes: number;
}

/** Bytes on their way through: what `push` and `end` return is to be sent on. */
export interface Meter {
  push(bytes: Uint8Array): Uint8Array | undefined;
  end(): Uint8Array | undefined;
  reading(): Reading;
}

export interface MeterStream {
  transform: TransformStream<Uint8Array, Uint8Array>;
  reading(): Reading;
}

/** One chunk in, at most one out, at once: nothing queues up here, and the reader's pace is the upstream's. */
export function meterThrough(meter: Meter): MeterStream {
  const send = (bytes: Uint8Array | undefined, controller: TransformStreamDefaultController<Uint8Array>) => {
    if (bytes && bytes.length > 0) controller.enqueue(bytes);
  };
  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => send(meter.push(bytes), controller),
    flush: (controller) => send(meter.end(), controller),
  });
  return { transform, reading: () => meter.reading() };
}
