// Asks the pools of one route for a call, or in shadow mode for a lease alone.
import { type CallRefusal, callQuestion } from "../calls/question.ts";
import type { Deps } from "../deps.ts";
import { inPoolsOrWhy, type Refusal, undoAnywhere } from "../leases/allocate.ts";
import { StoreUnavailable } from "../store.ts";
import { Admission, type Ask, TERM_SECONDS } from "./admission.ts";
import { admitInShadow } from "./shadow.ts";

/** Asks the pools of one route. Throws StoreUnavailable; then what may have been admitted is given back. */
export async function admitTo(deps: Deps, ask: Ask): Promise<Admission | Refusal<CallRefusal>> {
  const { call_id, caller, model, route, estimate, affinity_key, avoid } = ask;
  const { prompt, output, amount } = estimate;
  const question = callQuestion(deps, {
    call_id,
    repeatable: false,
    tenant: caller.tenant,
    sub_account: caller.sub_account,
    token: caller.token,
    provider: route.provider,
    model: route.provider_model,
    pool: route.pool ?? caller.pool,
    items: [{ model, amount, tokens: prompt + output, requests: 1 }],
    ttl_seconds: TERM_SECONDS,
    lease_seconds: TERM_SECONDS,
    affinity_key,
    metadata: "",
    avoid,
  });
  try {
    const answer = await inPoolsOrWhy(deps, question);
    if (answer.kind === "granted") return new Admission(deps, ask, question, answer);
    return answer.kind === "refused" && caller.shadow ? await admitInShadow(deps, ask, answer) : answer;
  } catch (error) {
    if (error instanceof StoreUnavailable && error.maybe_applied)
      deps.background(undoAnywhere(deps, question));
    throw error;
  }
}
