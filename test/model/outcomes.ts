// What the outcome of a call means, in the model: the table of outcomes, and the breaker.
import type { OUTCOMES } from "../../src/scripts/lease/release.ts";
import type { Credential, Lease, Model, Pool } from "./model.ts";

type Outcome = (typeof OUTCOMES)[number] | "";

const between = (least: number, value: number, most: number) => Math.max(least, Math.min(value, most));
const endless = ({ status, until_ms }: Credential) => status !== "available" && until_ms === 0;

/** A bench only ever moves out; 0 has no end. */
export function bench(model: Model, credential: Credential, status: string, until_ms: number) {
  if (endless(credential) || (until_ms > 0 && until_ms <= credential.until_ms)) return;
  Object.assign(credential, { status, until_ms, benched_step: model.step });
}

/** The lease is older than what the credential is now: its secret was changed, or an operator enabled it, or a bench is over. */
export const isOutdated = ({ status, benched_step }: Credential, { granted_step }: Lease) =>
  status === "available" && granted_step <= benched_step;

function rate(credential: Credential, sample: number) {
  const { success } = credential;
  credential.success = success < 0 ? sample : Math.floor((success * 15 + sample) / 16 + 0.5);
}

function onError(model: Model, { settings }: Pool, credential: Credential, news: boolean, wait_ms?: number) {
  const { errors_from, error_ms, error_max_ms, rate_limit_min_ms, rate_limit_max_ms } = settings.cooldowns;
  rate(credential, 0);
  if (news) credential.errors++;
  const more = credential.errors - errors_from;
  if (wait_ms !== undefined) {
    const honoured_ms = between(rate_limit_min_ms, wait_ms, rate_limit_max_ms);
    bench(model, credential, "cooling", model.now_ms + honoured_ms);
  } else if (news && more >= 0) {
    bench(model, credential, "cooling", model.now_ms + Math.min(error_ms * 2 ** more, error_max_ms));
  }
}

function learn(
  model: Model,
  pool: Pool,
  credential: Credential,
  lease: Lease,
  outcome: Outcome,
  wait_ms?: number,
) {
  const { rate_limit_min_ms, rate_limit_default_ms, rate_limit_max_ms, exhausted_ms } =
    pool.settings.cooldowns;
  const news = lease.granted_step > credential.benched_step;
  const outdated = isOutdated(credential, lease);
  if (outcome === "success") {
    rate(credential, 1000);
    if (news) credential.errors = 0;
  }
  if (outcome === "upstream_error") onError(model, pool, credential, news, wait_ms);
  if (outcome === "rate_limited") {
    const limit_ms = between(rate_limit_min_ms, wait_ms ?? rate_limit_default_ms, rate_limit_max_ms);
    credential.limited_at_ms = model.now_ms;
    bench(model, credential, "rate_limited", model.now_ms + limit_ms);
  }
  if (outcome === "exhausted" && !outdated)
    bench(model, credential, "exhausted", model.now_ms + Math.max(wait_ms ?? 0, exhausted_ms));
  if (outcome === "auth_failed" && !outdated) bench(model, credential, "auth_failed", 0);
}

function tellBreaker(model: Model, { breaker, settings }: Pool, lease: Lease, outcome: Outcome) {
  const probe = model.isProbe(lease, breaker);
  const old = lease.granted_step <= breaker.opened_step;
  if ((outcome !== "success" && outcome !== "upstream_error") || old) return;
  if (outcome === "success") {
    Object.assign(breaker, { failures: 0, open_until_ms: 0, trips: 0 });
    return;
  }
  breaker.failures++;
  if (!probe && breaker.failures < settings.breaker.failures) return;
  const open_ms = Math.min(settings.breaker.open_ms * 2 ** breaker.trips, settings.breaker.open_max_ms);
  breaker.trips++;
  breaker.open_until_ms = model.now_ms + open_ms;
  breaker.opened_step = model.step;
}

/** The release of a held lease, with its outcome. */
export function conclude(model: Model, lease: Lease, outcome: Outcome, wait_ms: number | "") {
  const pool = model.pools[lease.pool];
  const credential = pool.credentials.get(lease.credential);
  if (!credential) throw new Error("a held lease has its credential");
  learn(model, pool, credential, lease, outcome, wait_ms === "" ? undefined : wait_ms);
  tellBreaker(model, pool, lease, outcome);
}
