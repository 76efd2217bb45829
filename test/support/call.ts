// The verbs of a call under test: a hold of one tenant and a lease of one pool, with defaults for the rest.
import { homeOf } from "../../src/keys.ts";
import { admit } from "../../src/scripts/call/admit.ts";
import { finish } from "../../src/scripts/call/finish.ts";
import { renewCall } from "../../src/scripts/call/renew.ts";
import { undoCall } from "../../src/scripts/call/undo.ts";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import type { OUTCOMES } from "../../src/scripts/lease/release.ts";
import { run } from "../../src/scripts/run.ts";
import { HOLD_KEEP_MS } from "./ledger.ts";
import { NOTE } from "./pool.ts";
import { keys } from "./redis.ts";

type Outcome = (typeof OUTCOMES)[number] | "";
interface Admit {
  ttl_ms?: number;
  lease_ms?: number;
  token?: string;
  fingerprint?: string;
  metadata?: string;
  ends?: Record<string, number>;
  borrowed?: boolean;
}

export function callsOf(store: () => Evaluator, tenant = "acme", provider = "openai", pool = "default") {
  const { tenant_key, due_key, journal_key } = keys.tenant(tenant);
  const { pool_key, leases_key, secrets_key } = keys.pool(provider, pool);
  const home = homeOf(provider, pool);
  const ofCall = (call_id: string) => ({
    tenant_key,
    hold_key: keys.hold(tenant, call_id),
    due_key,
    pool_key,
    leases_key,
  });
  return {
    admit: (sub_account: string, call_id: string, amount: number, candidates: string[], more: Admit = {}) =>
      run(
        store(),
        admit,
        { ...ofCall(call_id), secrets_key },
        {
          tenant,
          sub_account,
          call_id,
          fingerprint: `${sub_account}|${amount}`,
          token: "",
          home,
          ttl_ms: 120_000,
          lease_ms: 120_000,
          items: [{ model: "m", amount, tokens: 0, requests: 1 }],
          metadata: "",
          candidates,
          ends: {},
          borrowed: false,
          holder: "worker-1",
          ...more,
        },
      ),
    renew: (call_id: string, credential_id: string, lease_ms = 120_000, amount = 0, accrued = 0) =>
      run(store(), renewCall, ofCall(call_id), {
        tenant,
        call_id,
        home,
        credential_id,
        lease_ms,
        amount,
        accrued,
      }),
    finish: (
      call_id: string,
      credential_id: string,
      amount: number,
      outcome: Outcome = "success",
      how: "settled" | "voided" = "settled",
      retry_after_ms: number | "" = "",
    ) =>
      run(
        store(),
        finish,
        { ...ofCall(call_id), journal_key },
        {
          tenant,
          call_id,
          home,
          credential_id,
          fingerprint: `${how}|${amount}|${outcome}`,
          how,
          amount,
          outcome,
          retry_after_ms,
          note: NOTE,
          keep_ms: HOLD_KEEP_MS,
        },
      ),
    undo: (call_id: string, outcome: Outcome = "", retry_after_ms: number | "" = "") =>
      run(
        store(),
        undoCall,
        { ...ofCall(call_id), journal_key },
        { tenant, call_id, home, outcome, retry_after_ms, note: NOTE, keep_ms: HOLD_KEEP_MS },
      ),
  };
}
