// One call of the gateway: admitted to the first route that can, tried upstream, moved on while nothing was delivered, relayed.
import { admitTo } from "./admit.ts";
import { attempt } from "./attempt.ts";
import type { Serve, Served } from "./call.ts";
import { type Estimate, estimateOf } from "./estimate.ts";

/** The first attempt and four more. */
const MOST_ATTEMPTS = 5;

const FREE: Estimate = { prompt: 0, output: 0, held_output: 0, amount: 0 };

/** Serves a call by the first route that can. Throws StoreUnavailable, RangeError. */
export async function serve(call: Serve): Promise<Served> {
  const ends_at_ms = Date.now() + call.wait_ms;
  const avoid = new Set<string>();
  let failed: Served | undefined;
  for (;;) {
    let refused: Served | undefined;
    for (const route of call.resolved.routes) {
      const growing = call.caller.stream_hold === "growing";
      const estimate = call.free ? FREE : estimateOf(route.price, call.request, growing);
      if (!estimate) return { kind: "no_ceiling" };
      const served = await byRoute(call, { route, estimate, avoid });
      if (served.kind === "relayed" || (served.kind === "failed" && served.final)) return served;
      if (served.kind === "failed") failed = served;
      else refused = worse(refused, served);
      if (served.kind === "refused" && served.refusal.kind === "refused") return served;
    }
    if (failed || !refused || !(await waited(call, refused, ends_at_ms)))
      return failed ?? refused ?? { kind: "no_ceiling" };
  }
}

/** Of several routes' refusals the one that may pass soonest says most: capacity, a breaker, then names. */
const ORDER = ["no_capacity", "breaker_open"];
function worse(one: Served | undefined, other: Served): Served {
  const rank = (served: Served | undefined) =>
    served?.kind === "refused" ? ORDER.indexOf(served.refusal.kind) + 1 || 9 : 99;
  return rank(one) <= rank(other) && one ? one : other;
}

const POLL_MS = 250;

/** Whether it is worth asking again: only for capacity, and while the caller wants to wait. */
async function waited({ signal }: Serve, refused: Served, ends_at_ms: number): Promise<boolean> {
  if (refused.kind !== "refused" || refused.refusal.kind !== "no_capacity") return false;
  const left_ms = ends_at_ms - Date.now();
  if (left_ms <= 0 || signal.aborted) return false;
  await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, left_ms)));
  return true;
}

type Ways = Pick<Parameters<typeof admitTo>[1], "route" | "estimate"> & { avoid: Set<string> };

/** One route: its credentials one after the other. */
async function byRoute(call: Serve, { route, estimate, avoid }: Ways): Promise<Served> {
  const { deps, call_id, caller, resolved, affinity_key, trail } = call;
  let failed: Served | undefined;
  for (;;) {
    const ask = { call_id, caller, model: resolved.model, route, estimate, affinity_key, avoid };
    const admission = await admitTo(deps.again(), ask);
    if (!("lease" in admission)) return failed ?? { kind: "refused", refusal: admission };
    avoid.add(admission.lease.grant.credential);
    const served = await attempt(call, admission);
    if (served.kind !== "failed" || served.final) return served;
    failed = served;
    if (trail.attempts.length >= MOST_ATTEMPTS) return { ...served, final: true };
    if (served.failure.verdict.retry === "next_route") return served;
  }
}
