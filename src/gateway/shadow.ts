// Shadow mode: a call that its tenant's funds or concurrency refuse passes all the same, on a lease without a hold. Nothing is
// charged; the log and the metrics say what would have been.
import type { CallRefusal } from "../calls/question.ts";
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { inPoolsOrWhy, type Refusal } from "../leases/allocate.ts";
import { leaseQuestion, type Refused, type Undo } from "../leases/question.ts";
import { log } from "../log.ts";
import { release } from "../scripts/lease/release.ts";
import { renew } from "../scripts/lease/renew.ts";
import { run } from "../scripts/run.ts";
import { StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import { Admission, type Ask, type End, TERM_SECONDS } from "./admission.ts";

/** What the shadow lets pass: a frozen tenant or a wrong token is nobody's dry run. */
const PASSES = new Set<string>(["exhausted", "concurrency_limited"]);

class Shadow extends Admission {
  private keysOfLease() {
    const { pool_key, leases_key } = this.place();
    return { pool_key, leases_key, lease_key: this.deps.keys.lease(this.lease.lease_id) };
  }

  private leased() {
    const home = homeOf(this.ask.route.provider, this.lease.pool);
    return { lease_id: this.lease.lease_id, home, credential_id: this.lease.grant.credential };
  }

  override async renew(): Promise<"renewed" | "lost"> {
    const args = { ...this.leased(), lease_ms: TERM_SECONDS * 1000 };
    try {
      const { kind } = await run(this.deps.backgroundStore(), renew, this.keysOfLease(), args);
      return kind === "renewed" ? kind : "lost";
    } catch (error) {
      if (error instanceof StoreUnavailable) return "renewed";
      throw error;
    }
  }

  /** A plain lease has no undo with an outcome: it is released with it. */
  override undo({ outcome, retry_after_ms }: Undo) {
    return this.give({ outcome: outcome ?? "cancelled", retry_after_ms, amount: 0 });
  }

  override finish(end: End) {
    return this.give(end);
  }

  private async give({
    outcome,
    retry_after_ms,
    amount,
  }: Pick<End, "outcome" | "retry_after_ms" | "amount">) {
    if (this.over) return;
    this.over = true;
    const { call_id, caller } = this.ask;
    const { tenant, sub_account } = caller;
    log("info", "shadow_call", { call_id, tenant, sub_account, outcome, not_charged: amount });
    const keep_ms = this.deps.settings.LEASE_KEEP_MINUTES * MINUTE_MS;
    const args = { ...this.leased(), outcome, retry_after_ms: retry_after_ms ?? ("" as const), keep_ms };
    await run(this.deps.backgroundStore(), release, this.keysOfLease(), args);
  }
}

/** The same refusal, or a lease in its place. */
export async function admitInShadow(
  deps: Deps,
  ask: Ask,
  refused: Refused<CallRefusal>,
): Promise<Admission | Refusal<CallRefusal>> {
  const { kind } = refused.refusal;
  if (!PASSES.has(kind)) return refused;
  const { route, caller, affinity_key, avoid, call_id } = ask;
  const { tenant, sub_account } = caller;
  deps.metrics.count("qm_shadow_refusals_total", { kind });
  log("warn", "shadow_refusal", { call_id, tenant, sub_account, kind, amount: ask.estimate.amount });
  const question = leaseQuestion(deps, {
    ...{ provider: route.provider, model: route.provider_model, affinity_key },
    pool: route.pool ?? caller.pool,
    lease_seconds: TERM_SECONDS,
    holder: caller.sub_account,
  });
  const asked = { ...question, avoid };
  const answer = await inPoolsOrWhy(deps, asked);
  return answer.kind === "granted" ? new Shadow(deps, ask, asked, answer) : answer;
}
