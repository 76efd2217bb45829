// One request for a lease, and one pool asked for it.
import type { Deps } from "../deps.ts";
import { derive, fingerprintOf, mint } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { defaultsOf } from "../pools/settings.ts";
import type { Candidate, Snapshot } from "../pools/snapshot.ts";
import type { ReplyOf } from "../scripts/define.ts";
import { allocate as script } from "../scripts/lease/allocate.ts";
import { run } from "../scripts/run.ts";
import { MINUTE_MS } from "../units.ts";
import { rank } from "./rank.ts";
import type { AllocateBody } from "./schema.ts";

export type Reply = ReplyOf<typeof script.replies>;
export type Granted = Extract<Reply, { kind: "granted" }>;

/** Who asks for what: the same in every pool that is tried. */
export interface Ask extends AllocateBody {
  readonly lease_id: string;
  readonly fingerprint: string;
}

/** A caller with an op_id finds its lease again under the same id; other arguments have another fingerprint. */
export function askOf(body: AllocateBody): Ask {
  const { provider, pool, model, holder = "", op_id, lease_seconds = "", affinity_key = "" } = body;
  const lease_id = op_id ? derive("lse", [provider, pool, holder, op_id]) : mint("lse");
  return { ...body, lease_id, fingerprint: fingerprintOf([model, String(lease_seconds), affinity_key]) };
}

/** When the access token of some candidates ends, by key_id. */
const endsOf = (candidates: readonly Candidate[]) =>
  Object.fromEntries(
    candidates.flatMap(({ key_id, config: { token_expires_at_ms } }) =>
      token_expires_at_ms === undefined ? [] : [[key_id, token_expires_at_ms]],
    ),
  );

const RECLAIM_ROUNDS = 4; // the call and three repeats

/** Asks one pool's script for the best of what a snapshot knows; without one only a lease's record can answer. */
export async function askScript(
  deps: Deps,
  ask: Ask,
  pool: string,
  snapshot: Snapshot | undefined,
): Promise<Reply> {
  const { pool_key, secrets_key, leases_key } = deps.keys.pool(ask.provider, pool);
  const keys = { pool_key, secrets_key, leases_key, lease_key: deps.keys.lease(ask.lease_id) };
  const candidates = snapshot ? rank(snapshot, ask.model, { affinity_key: ask.affinity_key }) : [];
  const { lease_seconds } = snapshot?.settings ?? defaultsOf(pool);
  const args = {
    lease_id: ask.lease_id,
    home: homeOf(ask.provider, pool),
    holder: ask.holder ?? "",
    fingerprint: ask.fingerprint,
    lease_ms: (ask.lease_seconds ?? lease_seconds) * 1000,
    keep_ms: deps.settings.LEASE_KEEP_MINUTES * MINUTE_MS,
    candidates: candidates.map(({ key_id }) => key_id),
    ends: endsOf(candidates),
    borrowed: pool !== ask.pool,
  };
  // Whoever comes while this call is under way should see that its favourite is about to be taken.
  const [favourite = ""] = args.candidates;
  deps.snapshots.note(pool_key, favourite, 1);
  const reply = await untilReclaimed(() => run(deps.store, script, keys, args)).finally(() =>
    deps.snapshots.note(pool_key, favourite, -1),
  );
  if (reply.kind === "granted" && !reply.replayed) deps.snapshots.note(pool_key, reply.credential, 1);
  return reply;
}

/** Repeats a call that took back expired leases and may find more. */
async function untilReclaimed(call: () => Promise<Reply>): Promise<Reply> {
  for (let round = 0; round < RECLAIM_ROUNDS; round++) {
    const reply = await call();
    if (reply.kind !== "reclaim_due") return reply;
  }
  return { kind: "no_capacity", due_in_ms: 0, reasons: { reclaim_due: 1 }, seq: 0 };
}

/** A pool that refuses is asked once more when what we knew of it was out of date: that repairs drift. */
export async function askPool(deps: Deps, ask: Ask, pool: string, snapshot: Snapshot): Promise<Reply> {
  const reply = await askScript(deps, ask, pool, snapshot);
  if (reply.kind !== "no_capacity" || reply.reasons.reclaim_due) return reply;
  if (reply.seq === snapshot.seq && deps.snapshots.isFresh(snapshot)) return reply;
  const now = await deps.snapshots.refresh(deps, ask.provider, pool);
  return now ? askScript(deps, ask, pool, now) : reply;
}
