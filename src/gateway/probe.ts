// The probe: tries out credentials that wait for it, and those that nobody has seen working for a day.
import type { Deps } from "../deps.ts";
import { STALE_MS } from "../leases/rank.ts";
import { eachOf, inTurn, lookFor, type Seen } from "../pools/look.ts";
import { readOne } from "../pools/one.ts";
import { verifyCredential } from "../pools/verify.ts";
import { type Found, tryOut } from "./free-request.ts";

/** Of a run; so many of them stale ones, however many wait; and of a moment. */
const MOST = 20;
const FOR_STALE = 5;
const AT_ONCE = 5;
/** The refresh, which runs just before, has looked at the same pools. */
const YOUNG_MS = 5_000;

/** Out of service until somebody has seen it working. An operator's `disabled` is none of these. */
function isWaiting({ state, settings }: Seen, now_ms: number): boolean {
  if (!state || state.status === "available" || state.status === "disabled") return false;
  if (state.until_ms > 0) return settings.recovery === "probe" && state.until_ms <= now_ms;
  return true;
}

const isStale = ({ state }: Seen, now_ms: number) =>
  state?.status === "available" && state.verified_at_ms <= now_ms - STALE_MS;

/** A token that is over would be refused, and that says nothing of its credential. */
const isOver = ({ config }: Seen, now_ms: number) =>
  (config.token_expires_at_ms ?? Number.POSITIVE_INFINITY) <= now_ms;

/** What becomes of one; undefined: it is another by now, or is not to be tried any more. */
async function probeOne(deps: Deps, name: Seen): Promise<Found | "restored" | undefined> {
  const one = await readOne(deps, name);
  if (!one || one.state.status === "disabled") return undefined;
  const { provider, pool, key_id } = name;
  const secret = await deps.sealing.open(one.sealed, [provider, pool, key_id]);
  const found = secret ? await tryOut({ provider, config: one.config, secret }) : "unknown";
  if (found === "unknown") return found;
  const reply = await verifyCredential(deps, name, one, { works: found === "works", actor: "probe" });
  if (reply.kind === "verified") return reply.changed ? "restored" : "works";
  return reply.kind === "refused" ? "refused" : undefined;
}

/** At most 20 a run; the others have their turn in the next ones. One that has no base_url waits for an operator. */
export async function probeCredentials(deps: Deps) {
  const { found, unreadable, now_ms } = await lookFor(
    deps,
    YOUNG_MS,
    (one, now) => !isOver(one, now) && (isWaiting(one, now) || isStale(one, now)),
  );
  const reachable = found.filter(({ config }) => config.base_url);
  const waiting = reachable.filter((one) => isWaiting(one, now_ms));
  const stale = reachable.filter((one) => isStale(one, now_ms));
  const first = inTurn(waiting, MOST - Math.min(FOR_STALE, stale.length), now_ms);
  const due = [...first, ...inTurn(stale, MOST - first.length, now_ms)];

  const lost = found.filter((one) => !one.config.base_url && isWaiting(one, now_ms));
  const report = { probed: due.length, restored: 0, refused: 0, failed: lost.length + unreadable };
  for (const became of await eachOf(due, AT_ONCE, (one) => probeOne(deps, one))) {
    if (became === "restored") report.restored++;
    if (became === "refused") report.refused++;
    if (became === "unknown" || became instanceof Error) report.failed++;
  }
  return report;
}
