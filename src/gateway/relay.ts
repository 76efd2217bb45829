// The answer on its way to the caller: bytes as they come, usage read on the way, the call renewed while they flow, and one end.
import type { Deps } from "../deps.ts";
import { type Admission, TERM_SECONDS } from "./admission.ts";
import { classifyWords } from "./classify.ts";
import { dialectErrorEvent } from "./dialect-error.ts";
import { type Charge, chargeOf, grown } from "./estimate.ts";
import type { Dialect } from "./meter/dialect.ts";
import type { Meter } from "./meter/reading.ts";
import type { Trail } from "./trail.ts";
import { type Answered, isLate, within } from "./upstream.ts";

/** Why an answer ended: whole, or what cut it short. */
type Ended = "whole" | "caller_left" | "upstream_cut" | "idle" | "lease_lost" | "funds" | "stalled";

const HEARTBEAT_MS = (TERM_SECONDS * 1000) / 3;

const SAID: Record<Exclude<Ended, "whole" | "caller_left">, string> = {
  upstream_cut: "the upstream has ended the answer early",
  idle: "the upstream has sent nothing for too long",
  lease_lost: "the credential is not leased any more",
  funds: "the funds do not suffice for more",
  stalled: "nothing was read for too long",
};

export interface Relayed {
  readonly deps: Deps;
  readonly dialect: Dialect;
  readonly model: string;
  readonly admission: Admission;
  readonly answered: Answered;
  readonly meter: Meter;
  readonly stream: boolean;
  /** Nothing is charged. */
  readonly free: boolean;
  readonly trail: Trail;
  readonly request_id: string;
  /** What became of this attempt, for the trail. */
  readonly tried: (outcome: string) => void;
}

export class Relay {
  /** What the caller reads. */
  readonly body: ReadableStream<Uint8Array>;
  private readonly relayed: Relayed;
  private readonly over = Promise.withResolvers<void>();
  private readonly heartbeat: ReturnType<typeof setInterval>;
  private ended = false;
  private growing = false;
  private bytes_before = 0;
  private quiet_beats = 0;
  private cut: Exclude<Ended, "whole"> | undefined;

  constructor(relayed: Relayed) {
    this.relayed = relayed;
    relayed.deps.background(this.over.promise);
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS);
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.pull(controller), cancel: () => this.end("caller_left") },
      { highWaterMark: 0 },
    );
  }

  /** One piece in, at most one out; the caller's pace is the upstream's. */
  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { answered, meter, deps } = this.relayed;
    for (let first = this.takeFirst(); ; first = undefined) {
      const chunk = first ?? (await this.read(answered, deps.settings.UPSTREAM_IDLE_MS));
      if (this.ended && this.cut === "caller_left") return;
      const out = chunk ? meter.push(chunk) : meter.end();
      if (out && out.length > 0) controller.enqueue(out);
      if (!chunk) return this.close(controller);
      this.grow();
      if (out && out.length > 0) return;
    }
  }

  private first_taken = false;
  private takeFirst(): Uint8Array | undefined {
    const first = this.first_taken ? undefined : this.relayed.answered.first;
    this.first_taken = true;
    return first;
  }

  /** The next piece; undefined at the end, and `cut` says when that is early. */
  private async read({ reader }: Answered, idle_ms: number): Promise<Uint8Array | undefined> {
    if (!reader || this.cut) return undefined;
    try {
      const { done, value } = await within(reader.read(), idle_ms);
      return done ? undefined : value;
    } catch (error) {
      this.cut ??= isLate(error) ? "idle" : "upstream_cut";
      return undefined;
    }
  }

  private close(controller: ReadableStreamDefaultController<Uint8Array>) {
    const { dialect, stream, request_id } = this.relayed;
    const { cut } = this;
    if (cut && cut !== "caller_left" && stream) {
      const code =
        cut === "funds" ? "quota_exhausted" : cut === "idle" ? "upstream_timeout" : "upstream_error";
      const event = dialectErrorEvent(dialect, { code, message: SAID[cut], request_id });
      controller.enqueue(new TextEncoder().encode(event));
    }
    // A body that is not whole must not look so.
    if (cut && !stream) controller.error(new Error(cut));
    else controller.close();
    this.end(cut ?? "whole");
  }

  /** While bytes flow, both terms are renewed and what is used so far is noted. */
  private async beat() {
    const { admission, meter } = this.relayed;
    const reading = meter.reading();
    const quiet = reading.bytes === this.bytes_before;
    this.bytes_before = reading.bytes;
    this.quiet_beats = quiet ? this.quiet_beats + 1 : 0;
    // A caller who stops reading and keeps the socket: its term is not renewed, and then it is over.
    if (this.quiet_beats >= 3) return this.stop("stalled");
    if (quiet) return;
    const accrued = chargeOf(admission.route.price, admission.estimate, reading)?.amount ?? 0;
    if ((await admission.renew(accrued)) === "lost") this.stop("lease_lost");
  }

  /** A growing stream holds more before it has used most of what it holds. */
  private async grow() {
    const { admission, meter } = this.relayed;
    const { price } = admission.route;
    const reading = meter.reading();
    const next = this.growing ? undefined : grown(price, admission.estimate, reading.delivered_tokens);
    if (!next) return;
    this.growing = true;
    const accrued = chargeOf(price, admission.estimate, reading)?.amount ?? 0;
    const renewed = await admission.renew(accrued, next);
    this.growing = false;
    if (renewed === "refused") this.stop("funds");
    if (renewed === "lost") this.stop("lease_lost");
  }

  /** Cuts the answer short: what waits for upstream ends, and the caller is told. */
  stop(why: Exclude<Ended, "whole">) {
    this.cut ??= why;
    this.relayed.answered.abort();
    if (why === "stalled" || why === "caller_left") this.end(why);
  }

  /** Once: the charge by what was delivered, and the credential's outcome. */
  private end(why: Ended) {
    if (this.ended) return;
    this.ended = true;
    this.cut ??= why === "whole" ? undefined : why;
    clearInterval(this.heartbeat);
    if (why !== "whole") this.relayed.answered.abort();
    this.settle(why).then(this.over.resolve, this.over.reject);
  }

  private async settle(why: Ended) {
    const { admission, meter, dialect, model, trail, tried, free } = this.relayed;
    const reading = meter.reading();
    const whole = why === "whole" && !reading.error;
    const outcome = this.outcomeOf(why, reading.error && classifyWords(dialect, reading.error).outcome);
    const charge: Charge | undefined = free
      ? undefined
      : chargeOf(admission.route.price, admission.estimate, reading, whole);
    tried(outcome);
    const ended = reading.error && why === "whole" ? "upstream_error" : why;
    await admission.finish({
      how: charge ? "settled" : "voided",
      amount: charge?.amount ?? 0,
      outcome,
      note: trail.note(model, admission.estimate.amount, ended, charge),
    });
  }

  private outcomeOf(why: Ended, failed: ReturnType<typeof classifyWords>["outcome"] | undefined) {
    if (failed) return failed;
    if (why === "upstream_cut" || why === "idle") return "upstream_error" as const;
    return why === "whole" ? ("success" as const) : ("cancelled" as const);
  }
}
