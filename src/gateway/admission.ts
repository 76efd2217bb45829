// A call that was admitted to a route: it is renewed while it goes on, and ends once.
import type { Priced } from "../catalog/catalog.ts";
import type { Deps } from "../deps.ts";
import { fingerprintOf } from "../ids.ts";
import { homeOf } from "../keys.ts";
import type { Lease } from "../leases/grant.ts";
import type { Question, Undo } from "../leases/question.ts";
import { log } from "../log.ts";
import { finish } from "../scripts/call/finish.ts";
import { renewCall } from "../scripts/call/renew.ts";
import { run } from "../scripts/run.ts";
import { StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import type { Outcome } from "./adapters/adapter.ts";
import type { Caller } from "./caller.ts";
import type { Estimate } from "./estimate.ts";

/** The term of a call's lease and hold: a dead isolate's call ends by itself so soon. */
export const TERM_SECONDS = 120;

export interface Ask {
  readonly call_id: string;
  readonly caller: Caller;
  /** The name that is counted. */
  readonly model: string;
  readonly route: Priced;
  readonly estimate: Estimate;
  readonly affinity_key: string | undefined;
  readonly avoid: ReadonlySet<string>;
}

export interface End {
  readonly how: "settled" | "voided";
  readonly amount: number;
  readonly outcome: Outcome;
  readonly retry_after_ms?: number | undefined;
  /** For the journal. */
  readonly note: Record<string, unknown>;
}

/** Redis has failed: it may not be back at once. Together well under the 30 s that a Worker has after its reply. */
const FINISH_AFTER_MS = [0, 500, 1_500, 4_000, 8_000];

export class Admission {
  readonly lease: Lease;
  estimate: Estimate;
  protected readonly deps: Deps;
  protected readonly ask: Ask;
  protected readonly question: Question<unknown>;
  protected over = false;

  constructor(deps: Deps, ask: Ask, question: Question<unknown>, lease: Lease) {
    this.deps = deps;
    this.ask = ask;
    this.question = question;
    this.lease = lease;
    this.estimate = ask.estimate;
  }

  get route() {
    return this.ask.route;
  }

  protected place() {
    const { keys } = this.deps;
    const { call_id, caller, route } = this.ask;
    const pool = keys.pool(route.provider, this.lease.pool);
    return { ...pool, ...keys.tenant(caller.tenant), hold_key: keys.hold(caller.tenant, call_id) };
  }

  private named() {
    const { call_id, caller, route } = this.ask;
    const home = homeOf(route.provider, this.lease.pool);
    return { tenant: caller.tenant, call_id, home, credential_id: this.lease.grant.credential };
  }

  /** More time, what is used so far, and if it is larger the hold. An outage is no reason to stop: the term goes on. */
  async renew(accrued: number, estimate = this.estimate): Promise<"renewed" | "refused" | "lost"> {
    const args = { ...this.named(), lease_ms: TERM_SECONDS * 1000, amount: estimate.amount, accrued };
    try {
      const { kind } = await run(this.deps.backgroundStore(), renewCall, this.place(), args);
      if (kind === "renewed") this.estimate = estimate;
      if (kind === "renewed") return kind;
      return kind === "exhausted" || kind === "frozen" ? "refused" : "lost";
    } catch (error) {
      if (error instanceof StoreUnavailable) return "renewed";
      throw error;
    }
  }

  /** As if it had not been; the credential learns from the outcome. */
  async undo(how: Undo) {
    if (this.over) return;
    this.over = true;
    this.deps.snapshots.note(this.place().pool_key, this.lease.grant.credential, -1);
    await this.question.undo(this.deps.backgroundStore(), this.lease.pool, how);
  }

  /** The charge and the release, in one script; repeated while Redis does not answer. What never gets through ends by its term. */
  async finish(end: End) {
    if (this.over) return;
    this.over = true;
    const { how, amount, outcome, retry_after_ms, note } = end;
    const { settings, metrics, snapshots } = this.deps;
    const place = this.place();
    snapshots.note(place.pool_key, this.lease.grant.credential, -1);
    const args = {
      ...this.named(),
      fingerprint: fingerprintOf([how, String(amount), outcome]),
      how,
      amount,
      outcome,
      retry_after_ms: retry_after_ms ?? ("" as const),
      note: this.deps.note(note),
      keep_ms: settings.HOLD_KEEP_MINUTES * MINUTE_MS,
    };
    for (const wait_ms of FINISH_AFTER_MS) {
      await new Promise((resolve) => setTimeout(resolve, wait_ms));
      try {
        const reply = await run(this.deps.backgroundStore(), finish, place, args);
        if (reply.kind === "finished") metrics.hold(how);
        else log("error", "call_not_finished", { call_id: this.ask.call_id, kind: reply.kind });
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
    log("error", "call_not_finished", { call_id: this.ask.call_id, kind: "store_unavailable" });
  }
}
