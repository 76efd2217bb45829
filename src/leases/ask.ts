// One pool asked: the best of what a snapshot knows, and once more when what we knew was out of date.
import type { Deps } from "../deps.ts";
import { defaultsOf } from "../pools/settings.ts";
import type { Candidate, Snapshot } from "../pools/snapshot.ts";
import type { Answer, Question } from "./question.ts";
import { rank } from "./rank.ts";

/** When the access token of some candidates ends, by key_id. */
const endsOf = (candidates: readonly Candidate[]) =>
  Object.fromEntries(
    candidates.flatMap(({ key_id, config: { token_expires_at_ms } }) =>
      token_expires_at_ms === undefined ? [] : [[key_id, token_expires_at_ms]],
    ),
  );

const RECLAIM_ROUNDS = 4; // the call and three repeats

/** Asks one pool's script for the best of what a snapshot knows; without one only the record of its id can answer. */
export async function askScript<F>(
  deps: Deps,
  question: Question<F>,
  pool: string,
  snapshot: Snapshot | undefined,
): Promise<Answer<F>> {
  const { pool_key } = deps.keys.pool(question.provider, pool);
  const { model, affinity_key } = question;
  const ranked = snapshot ? rank(snapshot, model, { affinity_key }) : [];
  const best = ranked.filter(({ key_id }) => !question.avoid?.has(key_id));
  const { lease_seconds } = snapshot?.settings ?? defaultsOf(pool);
  const candidates = best.map(({ key_id }) => key_id);
  if (question.avoid?.size && candidates.length === 0)
    return { kind: "no_capacity", due_in_ms: 0, reasons: {}, seq: snapshot?.seq ?? 0 };
  const offer = { candidates, ends: endsOf(best), borrowed: pool !== question.pool, lease_seconds };
  // Whoever comes while this call is under way should see that its favourite is about to be taken.
  const [favourite = ""] = candidates;
  deps.snapshots.note(pool_key, favourite, 1);
  const reply = await untilReclaimed(() => question.ask(pool, offer)).finally(() =>
    deps.snapshots.note(pool_key, favourite, -1),
  );
  if (reply.kind === "granted" && !reply.replayed) deps.snapshots.note(pool_key, reply.credential, 1);
  return reply;
}

/** Repeats a call that took back expired leases and may find more. */
async function untilReclaimed<F>(call: () => Promise<Answer<F>>): Promise<Answer<F>> {
  for (let round = 0; round < RECLAIM_ROUNDS; round++) {
    const reply = await call();
    if (reply.kind !== "reclaim_due") return reply;
  }
  return { kind: "no_capacity", due_in_ms: 0, reasons: { reclaim_due: 1 }, seq: 0 };
}

/** A pool that refuses is asked once more when what we knew of it was out of date: that repairs drift. */
export async function askPool<F>(
  deps: Deps,
  question: Question<F>,
  pool: string,
  snapshot: Snapshot,
): Promise<Answer<F>> {
  const reply = await askScript(deps, question, pool, snapshot);
  if (reply.kind !== "no_capacity" || reply.reasons.reclaim_due) return reply;
  if (reply.seq === snapshot.seq && deps.snapshots.isFresh(snapshot)) return reply;
  const now = await deps.snapshots.refresh(deps, question.provider, pool);
  return now ? askScript(deps, question, pool, now) : reply;
}
