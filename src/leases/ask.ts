// One request for a lease, and one pool asked for it.
import type { Deps } from "../deps.ts";
import { derive, fingerprintOf, mint } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { DEFAULTS } from "../pools/settings.ts";
import type { Snapshot } from "../pools/snapshot.ts";
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
  readonly lease_ms: number;
}

/** A caller with an op_id finds its lease again under the same id; other arguments have another fingerprint. */
export function askOf(body: AllocateBody): Ask {
  const {
    provider,
    pool,
    model,
    holder = "",
    op_id,
    lease_seconds = DEFAULTS.lease_seconds,
    affinity_key = "",
  } = body;
  const lease_id = op_id ? derive("lse", [provider, pool, holder, op_id]) : mint("lse");
  const fingerprint = fingerprintOf([model, String(lease_seconds), affinity_key]);
  return { ...body, lease_id, fingerprint, lease_ms: lease_seconds * 1000 };
}

const RECLAIM_ROUNDS = 4; // the call and three repeats

/** One pool's script, repeated while it takes back expired leases. */
export async function askScript(deps: Deps, ask: Ask, pool: string, candidates: string[]): Promise<Reply> {
  const { pool_key, secrets_key, leases_key } = deps.keys.pool(ask.provider, pool);
  const keys = { pool_key, secrets_key, leases_key, lease_key: deps.keys.lease(ask.lease_id) };
  const args = {
    lease_id: ask.lease_id,
    home: homeOf(ask.provider, pool),
    holder: ask.holder ?? "",
    fingerprint: ask.fingerprint,
    lease_ms: ask.lease_ms,
    keep_ms: deps.settings.LEASE_KEEP_MINUTES * MINUTE_MS,
    candidates,
  };
  for (let round = 0; round < RECLAIM_ROUNDS; round++) {
    const reply = await run(deps.store, script, keys, args);
    if (reply.kind !== "reclaim_due") return reply;
  }
  return { kind: "no_capacity", due_in_ms: 0, reasons: { reclaim_due: 1 }, seq: 0 };
}

/** A pool that refuses is asked once more when what we knew of it was out of date: that repairs drift. */
export async function askPool(deps: Deps, ask: Ask, pool: string, snapshot: Snapshot): Promise<Reply> {
  const ids = (known: Snapshot) => rank(known, ask.model).map(({ key_id }) => key_id);
  const reply = await askScript(deps, ask, pool, ids(snapshot));
  if (reply.kind !== "no_capacity") return reply;
  if (reply.seq === snapshot.seq && deps.snapshots.isFresh(snapshot)) return reply;
  const now = await deps.snapshots.refresh(deps.store, deps.keys.pool(ask.provider, pool));
  return now ? askScript(deps, ask, pool, ids(now)) : reply;
}
