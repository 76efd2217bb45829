// Allocation, from a request to a lease: the pools in order, each until it gives one that can be used.
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { poolOfHome } from "../keys.ts";
import type { Snapshot } from "../pools/snapshot.ts";
import { StoreUnavailable } from "../store.ts";
import { askPool, askScript } from "./ask.ts";
import { explainNothing, type Unserved } from "./explain.ts";
import { type Lease, openGrant, undoGrant } from "./grant.ts";
import { leaseQuestion, type PoolRefusal, type Question, type Refused } from "./question.ts";
import { serves } from "./rank.ts";
import type { AllocateBody } from "./schema.ts";

export type Refusal<F = never> =
  | { readonly kind: "no_capacity"; readonly due_in_ms: number; readonly reasons: Record<string, number> }
  | Extract<PoolRefusal, { kind: "breaker_open" | "lease_lost" | "conflict" }>
  | Refused<F>
  | Unserved;

/** Credentials whose secret does not open are benched one after the other, so many in one call. */
const OPEN_ATTEMPTS = 8;

/** Asks one pool until it gives a lease that can be used, or refuses. */
async function fromPool<F>(
  deps: Deps,
  question: Question<F>,
  pool: string,
  snapshot: Snapshot,
): Promise<Lease | PoolRefusal | Refused<F>> {
  for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
    let reply = await askPool(deps, question, pool, snapshot);
    let home = pool;
    if (reply.kind === "elsewhere") {
      home = poolOfHome(reply.home);
      reply = await askScript(deps, question, home, undefined); // only its record can answer
    }
    if (reply.kind !== "granted") return reply;
    const lease = await openGrant(deps, question, home, reply);
    if (lease) return lease;
  }
  return { kind: "no_capacity", due_in_ms: 0, reasons: { auth_failed: OPEN_ATTEMPTS }, seq: snapshot.seq };
}

/** What several pools refused, as one refusal: any lack of capacity counts before an open breaker. */
function refusalOf(refusals: readonly PoolRefusal[]): Refusal | undefined {
  const due: number[] = [];
  const reasons: Record<string, number> = {};
  for (const one of refusals) {
    if ("due_in_ms" in one && one.due_in_ms > 0) due.push(one.due_in_ms);
    if (one.kind === "breaker_open") reasons.breaker_open = (reasons.breaker_open ?? 0) + 1;
    if (one.kind !== "no_capacity") continue;
    for (const [reason, count] of Object.entries(one.reasons))
      reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  const due_in_ms = due.length > 0 ? Math.min(...due) : 0;
  if (refusals.some((one) => one.kind === "no_capacity")) return { kind: "no_capacity", due_in_ms, reasons };
  return refusals.length > 0 ? { kind: "breaker_open", due_in_ms } : undefined;
}

/** A pool as last seen; one that does not serve the model is looked at again, unless that was just done. */
async function look(
  deps: Deps,
  { provider, model }: Question<unknown>,
  pool: string,
): Promise<Snapshot | undefined> {
  const known = await deps.snapshots.get(deps, provider, pool);
  if (!known || serves(known, model) || deps.snapshots.isFresh(known)) return known;
  return deps.snapshots.refresh(deps, provider, pool);
}

/** Whether a refusal is for want of capacity: one without any candidate says that nothing serves the model any more. */
const isFull = (reply: PoolRefusal) => reply.kind !== "no_capacity" || Object.keys(reply.reasons).length > 0;

/** Asks the pools in order; undefined when none of them serves the model, or the asked one is gone. */
async function inPools<F>(
  deps: Deps,
  question: Question<F>,
  pools: readonly string[],
): Promise<Lease | Refusal<F> | undefined> {
  const refusals: PoolRefusal[] = [];
  for (const pool of pools) {
    const snapshot = await look(deps, question, pool);
    const serving = snapshot && serves(snapshot, question.model);
    if (!snapshot || !(serving || question.repeatable)) continue; // its id may have its lease all the same
    const reply = await fromPool(deps, question, pool, snapshot);
    if (reply.kind === "granted" || reply.kind === "refused") return reply;
    if (reply.kind === "lease_lost" || reply.kind === "conflict") return reply;
    if (reply.kind === "absent") {
      await requireCell(deps);
      if (pool === question.pool) return undefined;
    } else if (serving && isFull(reply)) refusals.push(reply);
  }
  return refusalOf(refusals);
}

/** The asked pool and where its settings send what it cannot serve; undefined when there is no such pool. */
async function poolsToAsk(deps: Deps, { provider, pool }: Question<unknown>): Promise<string[] | undefined> {
  const asked = await deps.snapshots.get(deps, provider, pool);
  return asked && [...new Set([pool, ...asked.settings.fallback])];
}

/** When nothing serves the model as far as we know, we look again before we say so. */
export async function inPoolsOrWhy<F>(deps: Deps, question: Question<F>): Promise<Lease | Refusal<F>> {
  const pools = await poolsToAsk(deps, question);
  if (!pools) return explainNothing(deps, question);
  const answer = await inPools(deps, question, pools);
  if (answer) return answer;
  // What has tried all that there is does not ask what is there.
  if (question.avoid?.size) return { kind: "no_capacity", due_in_ms: 0, reasons: {} };
  const now = await Promise.all(pools.map((pool) => deps.snapshots.refresh(deps, question.provider, pool)));
  const found = now[0] && now.some((snapshot) => snapshot && serves(snapshot, question.model));
  return (found ? await inPools(deps, question, pools) : undefined) ?? explainNothing(deps, question);
}

/** Allocates. Throws StoreUnavailable; then a lease that may have been granted is given back, unless its op_id finds it again. */
export async function allocate(deps: Deps, body: AllocateBody): Promise<Lease | Refusal> {
  const question = leaseQuestion(deps, body);
  try {
    return await inPoolsOrWhy(deps, question);
  } catch (error) {
    if (error instanceof StoreUnavailable && error.maybe_applied && !question.repeatable) {
      deps.background(undoAnywhere(deps, question));
    }
    throw error;
  }
}

/** Redis has just failed, so it may not be back at once; together well under the 30 s that a Worker has after its reply. */
const UNDO_AFTER_MS = [0, 500, 1000, 2000, 4000];

/** From whichever pool it came; the others answer that it is not theirs. What is never given back ends with its term. */
export async function undoAnywhere(deps: Deps, question: Question<unknown>) {
  const known = deps.snapshots.peek(deps.keys.pool(question.provider, question.pool).pool_key);
  const pools = [question.pool, ...(known?.settings.fallback ?? [])];
  for (const wait_ms of UNDO_AFTER_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait_ms));
    const store = deps.backgroundStore();
    const undone = await Promise.allSettled(
      pools.map((pool) => undoGrant(deps, store, question, pool, { spend_it: true })),
    );
    if (undone.every(({ status }) => status === "fulfilled")) return;
  }
}
