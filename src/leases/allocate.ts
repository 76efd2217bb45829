// Allocation, from a request to a lease: rank, ask the script, then the next pool, then open the secret.
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { derive, fingerprintOf, mint } from "../ids.ts";
import { homeOf, poolOfHome } from "../keys.ts";
import { log } from "../log.ts";
import type { CredentialConfig } from "../pools/schema.ts";
import { DEFAULTS, fallbackOf } from "../pools/settings.ts";
import type { Snapshot } from "../pools/snapshot.ts";
import { readSecret } from "../pools/state.ts";
import type { Secret } from "../sealing.ts";
import type { ReplyOf } from "../scripts/define.ts";
import { allocate as script } from "../scripts/lease/allocate.ts";
import { undo } from "../scripts/lease/undo.ts";
import { run } from "../scripts/run.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import { explainNothing, type Unserved } from "./explain.ts";
import { providerModel, rank } from "./rank.ts";
import type { AllocateBody } from "./schema.ts";

type Reply = ReplyOf<typeof script.replies>;
type Granted = Extract<Reply, { kind: "granted" }>;

export interface Lease {
  readonly kind: "granted";
  readonly lease_id: string;
  readonly pool: string;
  readonly grant: Granted;
  readonly secret: Secret;
  readonly config: CredentialConfig;
  readonly provider_model: string;
}

export type Refusal =
  | { readonly kind: "no_capacity"; readonly due_in_ms: number; readonly reasons: Record<string, number> }
  | Extract<Reply, { kind: "breaker_open" | "lease_lost" | "conflict" }>
  | Unserved;

/** Who asks for what: the same in every pool that is tried. */
interface Ask extends AllocateBody {
  readonly lease_id: string;
  readonly fingerprint: string;
  readonly lease_ms: number;
}

/** A caller with an op_id finds its lease again under the same id; other arguments have another fingerprint. */
function askOf(body: AllocateBody): Ask {
  const { provider, pool, model, holder = "", op_id, lease_seconds = DEFAULTS.lease_seconds, affinity_key = "" } = body;
  const lease_id = op_id ? derive("lse", [provider, pool, holder, op_id]) : mint("lse");
  const fingerprint = fingerprintOf([model, String(lease_seconds), affinity_key]);
  return { ...body, lease_id, fingerprint, lease_ms: lease_seconds * 1000 };
}

const RECLAIM_ROUNDS = 4; // the call and three repeats
/** Credentials whose secret does not open are benched one after the other, so many in one call. */
const OPEN_ATTEMPTS = 8;

/** One pool's script, repeated while it takes back expired leases. */
async function askScript(deps: Deps, ask: Ask, pool: string, candidates: string[]): Promise<Reply> {
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
async function askPool(deps: Deps, ask: Ask, pool: string, snapshot: Snapshot): Promise<Reply> {
  const ids = (known: Snapshot) => rank(known, ask.model).map(({ key_id }) => key_id);
  const reply = await askScript(deps, ask, pool, ids(snapshot));
  if (reply.kind !== "no_capacity") return reply;
  if (reply.seq === snapshot.seq && deps.snapshots.isFresh(snapshot)) return reply;
  const now = await deps.snapshots.refresh(deps.store, deps.keys.pool(ask.provider, pool));
  return now ? askScript(deps, ask, pool, ids(now)) : reply;
}

/** Gives back a lease that nobody holds, record and all. */
function undoGrant(deps: Deps, store: Store, ask: Ask, pool: string, bench_it: boolean) {
  const { pool_key, leases_key } = deps.keys.pool(ask.provider, pool);
  const keys = { pool_key, leases_key, lease_key: deps.keys.lease(ask.lease_id) };
  deps.metrics.count("qm_leases_total", { result: "undone" });
  return run(store, undo, keys, { lease_id: ask.lease_id, home: homeOf(ask.provider, pool), bench_it });
}

/** A credential's configuration; the snapshot may be older than the credential. */
async function configOf(deps: Deps, ask: Ask, pool: string, credential: string): Promise<CredentialConfig | undefined> {
  const known = await deps.snapshots.get(deps, ask.provider, pool);
  if (known?.configs.has(credential)) return known.configs.get(credential);
  const now = await deps.snapshots.refresh(deps.store, deps.keys.pool(ask.provider, pool));
  return now?.configs.get(credential);
}

/** The lease of a grant, or undefined when it cannot be used: then it is undone, and a secret that does not open is benched. */
async function openGrant(deps: Deps, ask: Ask, pool: string, grant: Granted): Promise<Lease | undefined> {
  const config = await configOf(deps, ask, pool, grant.credential);
  const provider_model = config && providerModel(config, ask.model);
  const { sealed } = readSecret(grant.secret);
  const secret = await deps.sealing.open(sealed, [ask.provider, pool, grant.credential]);
  if (secret && config && provider_model !== undefined) {
    return { kind: "granted", lease_id: ask.lease_id, pool, grant, secret, config, provider_model };
  }
  await undoGrant(deps, deps.store, ask, pool, !secret);
  if (!secret) log("error", "secret_does_not_open", { provider: ask.provider, pool, key_id: grant.credential });
  return undefined;
}

/** Asks one pool until it gives a lease that can be used, or refuses. */
async function fromPool(deps: Deps, ask: Ask, pool: string, snapshot: Snapshot): Promise<Lease | Exclude<Reply, Granted>> {
  for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
    let reply = await askPool(deps, ask, pool, snapshot);
    let home = pool;
    if (reply.kind === "elsewhere") {
      home = poolOfHome(reply.home);
      reply = await askScript(deps, ask, home, []); // only its record can answer
    }
    if (reply.kind !== "granted") return reply;
    const lease = await openGrant(deps, ask, home, reply);
    if (lease) return lease;
  }
  return { kind: "no_capacity", due_in_ms: 0, reasons: { auth_failed: OPEN_ATTEMPTS }, seq: snapshot.seq };
}

/** What several pools refused, as one refusal: any lack of capacity counts before an open breaker. */
function refusalOf(refusals: readonly Reply[]): Refusal | undefined {
  const due: number[] = [];
  const reasons: Record<string, number> = {};
  for (const one of refusals) {
    if ("due_in_ms" in one && one.due_in_ms > 0) due.push(one.due_in_ms);
    if (one.kind === "breaker_open") reasons.breaker_open = (reasons.breaker_open ?? 0) + 1;
    if (one.kind !== "no_capacity") continue;
    for (const [reason, count] of Object.entries(one.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  const due_in_ms = due.length > 0 ? Math.min(...due) : 0;
  if (refusals.some((one) => one.kind === "no_capacity")) return { kind: "no_capacity", due_in_ms, reasons };
  return refusals.length > 0 ? { kind: "breaker_open", due_in_ms } : undefined;
}

/** Asks the pools in order; undefined when none of them serves the model. */
async function inPools(deps: Deps, ask: Ask, pools: readonly string[]): Promise<Lease | Refusal | undefined> {
  const refusals: Reply[] = [];
  for (const pool of pools) {
    const snapshot = await deps.snapshots.get(deps, ask.provider, pool);
    const serves = snapshot && rank(snapshot, ask.model).length > 0;
    if (!snapshot || !(serves || ask.op_id)) continue; // an op_id may have its lease all the same
    const reply = await fromPool(deps, ask, pool, snapshot);
    if (reply.kind === "granted" || reply.kind === "lease_lost" || reply.kind === "conflict") return reply;
    if (reply.kind === "absent") await requireCell(deps);
    else if (serves) refusals.push(reply);
  }
  return refusalOf(refusals);
}

/** When nothing serves the model as far as we know, we look again before we say so. */
async function inPoolsOrWhy(deps: Deps, ask: Ask, pools: readonly string[]): Promise<Lease | Refusal> {
  const answer = await inPools(deps, ask, pools);
  if (answer) return answer;
  const now = await Promise.all(pools.map((pool) => deps.snapshots.refresh(deps.store, deps.keys.pool(ask.provider, pool))));
  const serves = now[0] && now.some((snapshot) => snapshot && rank(snapshot, ask.model).length > 0);
  return (serves ? await inPools(deps, ask, pools) : undefined) ?? explainNothing(deps, ask);
}

/** Allocates. Throws StoreUnavailable; then a lease that may have been granted is given back, unless its op_id finds it again. */
export async function allocate(deps: Deps, body: AllocateBody): Promise<Lease | Refusal> {
  const ask = askOf(body);
  const pools = [ask.pool, ...fallbackOf(ask.pool)];
  try {
    return await inPoolsOrWhy(deps, ask, pools);
  } catch (error) {
    if (error instanceof StoreUnavailable && error.maybe_applied && !ask.op_id) {
      deps.background(Promise.allSettled(pools.map((pool) => undoGrant(deps, deps.backgroundStore(), ask, pool, false))));
    }
    throw error;
  }
}
