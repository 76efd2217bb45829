// What pools are asked, one after the other: for a model of a provider, by a script that decides. A lease asks, and so does a call.
import type { Deps } from "../deps.ts";
import { derive, fingerprintOf, mint } from "../ids.ts";
import { homeOf } from "../keys.ts";
import type { ReplyOf } from "../scripts/define.ts";
import { allocate } from "../scripts/lease/allocate.ts";
import type { OUTCOMES } from "../scripts/lease/release.ts";
import { undo } from "../scripts/lease/undo.ts";
import { run } from "../scripts/run.ts";
import type { Store } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import type { AllocateBody } from "./schema.ts";

type Reply = ReplyOf<typeof allocate.replies>;

/** A grant, and of a call what it holds. */
export type Granted = Extract<Reply, { kind: "granted" }> & { readonly hold?: Held };
export interface Held {
  readonly amount: number;
  readonly funding: readonly { source: "sub_account" | "account"; amount: number }[];
  readonly sub_available: number;
  readonly account_available: number;
  readonly expires_at_ms: number;
}
export type PoolRefusal = Exclude<Reply, { kind: "granted" }>;
/** A refusal that no other pool can mend. */
export interface Refused<F> {
  readonly kind: "refused";
  readonly refusal: F;
}
export type Answer<F> = Granted | PoolRefusal | Refused<F>;

/** What a pool is offered: its best credentials, and for how long. */
export interface Offer {
  readonly candidates: string[];
  /** When the access token of some of them ends. */
  readonly ends: Record<string, number>;
  readonly borrowed: boolean;
  /** Unless the question says its own. */
  readonly lease_seconds: number;
}

/** Why a grant is taken back: its secret does not open, its call has failed, or nobody waits for it any more. */
export interface Undo {
  readonly outcome?: (typeof OUTCOMES)[number] | undefined;
  readonly retry_after_ms?: number | undefined;
  /** Nobody will ask for this id again, so a grant that is still on its way to Redis must not find it free. */
  readonly spend_it?: boolean;
}

export interface Question<F = never> {
  readonly provider: string;
  readonly model: string;
  readonly pool: string;
  readonly affinity_key?: string | undefined;
  /** Of the lease, or of the call. */
  readonly id: string;
  /** Credentials that are not to be offered: those that this call has tried. */
  readonly avoid?: ReadonlySet<string>;
  /** Whether the caller may have asked before under this id. */
  readonly repeatable: boolean;
  /** Runs the script once. */
  ask(pool: string, offer: Offer): Promise<Answer<F>>;
  /** Gives a grant back as if it had not been; false when there was none. */
  undo(store: Store, pool: string, how: Undo): Promise<boolean>;
}

/** A caller with an op_id finds its lease again under the same id; other arguments have another fingerprint. */
export function leaseQuestion(deps: Deps, body: AllocateBody): Question {
  const { provider, pool, model, holder = "", op_id, lease_seconds, affinity_key } = body;
  const id = op_id ? derive("lse", [provider, pool, holder, op_id]) : mint("lse");
  const fingerprint = fingerprintOf([model, String(lease_seconds ?? ""), affinity_key ?? ""]);
  const keep_ms = deps.settings.LEASE_KEEP_MINUTES * MINUTE_MS;
  const keysOf = (asked: string) => ({ ...deps.keys.pool(provider, asked), lease_key: deps.keys.lease(id) });
  return {
    provider,
    model,
    pool,
    affinity_key,
    id,
    repeatable: op_id !== undefined,
    ask: (asked, { candidates, ends, borrowed, lease_seconds: usual }) =>
      run(deps.store, allocate, keysOf(asked), {
        lease_id: id,
        home: homeOf(provider, asked),
        holder,
        fingerprint,
        lease_ms: (lease_seconds ?? usual) * 1000,
        keep_ms,
        candidates,
        ends,
        borrowed,
      }),
    async undo(store, asked, { outcome, spend_it = false }) {
      const reply = await run(store, undo, keysOf(asked), {
        lease_id: id,
        home: homeOf(provider, asked),
        bench_it: outcome === "auth_failed",
        spend_ms: spend_it ? keep_ms : 0,
      });
      return reply.kind === "undone";
    },
  };
}
