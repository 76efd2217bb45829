// The decision trail of a call: which credentials it tried and what became of each, for the entry of its end or the log.
import type { Charge } from "./estimate.ts";

export interface Attempt {
  readonly provider: string;
  readonly pool: string;
  readonly key_id: string;
  /** 0: it did not answer. */
  readonly status: number;
  readonly outcome: string;
  readonly ms: number;
}

/** Together with the rest of a note well under 2 kB. */
const MOST_ATTEMPTS = 6;

export class Trail {
  readonly attempts: Attempt[] = [];
  private readonly started_at_ms = Date.now();

  add(attempt: Attempt) {
    if (this.attempts.length < MOST_ATTEMPTS) this.attempts.push(attempt);
  }

  /** Of a call that has ended: what was asked, held, counted and charged, and why it ended. */
  note(model: string, held: number, ended: string, charge: Charge | undefined): Record<string, unknown> {
    return {
      model,
      held,
      ended,
      ms: Date.now() - this.started_at_ms,
      ...(charge ? { usage: charge.usage, estimated: charge.estimated } : {}),
      attempts: this.attempts,
    };
  }
}
