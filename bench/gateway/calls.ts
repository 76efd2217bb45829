// Calls of one tenant on one pool: the four verbs of a call on a direct connection, each the production script.
import { fingerprintOf, mint } from "../../src/ids.ts";
import { homeOf, keysOf } from "../../src/keys.ts";
import { admit } from "../../src/scripts/call/admit.ts";
import { finish } from "../../src/scripts/call/finish.ts";
import { renewCall } from "../../src/scripts/call/renew.ts";
import { undoCall } from "../../src/scripts/call/undo.ts";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { run } from "../../src/scripts/run.ts";
import { type Pool, poolOf } from "../lib/pool.ts";
import { AMOUNT, type Ledger, ledgerOf, subsOf, USED } from "../quota/ledger.ts";

const HOUR_MS = 60 * 60_000;
/** 10 to 60 minutes: longer than the benchmark, and with no order in which they end. */
const someTerm_ms = () => Math.floor((10 + Math.random() * 50) * 60_000);

/** As long as a real one: one attempt, its usage, why it ended. */
const NOTE = JSON.stringify({
  model: "gpt-large",
  held: AMOUNT,
  ended: "whole",
  ms: 1_234,
  usage: { input: 420, cached_input: 0, cache_write: 0, output: 180 },
  estimated: false,
  attempts: [
    { provider: "openai", pool: "default", key_id: "key-1", status: 200, outcome: "success", ms: 1_200 },
  ],
});

export const newCallId = () => mint("call");

export interface Asked {
  readonly term_ms?: number;
  readonly token?: string;
  readonly items?: number;
  readonly amount?: number;
}

export interface Ended {
  readonly how?: "settled" | "voided";
  readonly amount?: number;
  readonly outcome?: "success" | "upstream_error";
}

const itemsOf = (count: number, amount: number) =>
  Array.from({ length: count }, (_, i) => ({
    model: `gpt-large-${i}`,
    amount: i === 0 ? amount - (count - 1) : 1,
    tokens: 1_200,
    requests: 1,
  }));

export type Calls = ReturnType<typeof callsOf>;

export function callsOf(store: Evaluator, cell: string) {
  const [tenant, provider, pool] = ["acme", "openai", "default"];
  const [sub_account = ""] = subsOf(1);
  const keys = keysOf(cell);
  const { tenant_key, due_key, journal_key } = keys.tenant(tenant);
  const { pool_key, leases_key, secrets_key } = keys.pool(provider, pool);
  const home = homeOf(provider, pool);
  const placeOf = (call_id: string) => ({
    ...{ tenant_key, due_key, pool_key, leases_key },
    hold_key: keys.hold(tenant, call_id),
  });

  /** The keys and arguments of an admit. */
  const asked = (call_id: string, candidates: string[], how: Asked = {}) => {
    const { term_ms = someTerm_ms(), token = "", amount = AMOUNT } = how;
    const items = itemsOf(how.items ?? 1, amount);
    return {
      keys: { ...placeOf(call_id), secrets_key },
      args: {
        ...{ tenant, sub_account, call_id, token, home, items, candidates },
        fingerprint: fingerprintOf([sub_account, JSON.stringify(items), home]),
        ttl_ms: term_ms,
        lease_ms: term_ms,
        metadata: "",
        ends: {},
        borrowed: false,
        holder: "" as const,
      },
    };
  };

  /** The keys and arguments of a finish. */
  const ended = (call_id: string, credential_id: string, how: Ended = {}) => {
    const { how: kind = "settled", amount = kind === "settled" ? USED : 0, outcome = "success" } = how;
    return {
      keys: { ...placeOf(call_id), journal_key },
      args: {
        ...{ tenant, call_id, home, credential_id, amount, outcome, note: NOTE, keep_ms: HOUR_MS },
        fingerprint: fingerprintOf([kind, String(amount), outcome]),
        how: kind,
        retry_after_ms: "" as const,
      },
    };
  };

  return {
    asked,
    ended,
    sub_account,
    admit: (...how: Parameters<typeof asked>) => {
      const call = asked(...how);
      return run(store, admit, call.keys, call.args);
    },
    /** `amount` is the whole of what is to be held. */
    renew: (call_id: string, credential_id: string, amount: number = AMOUNT) =>
      run(store, renewCall, placeOf(call_id), {
        ...{ tenant, call_id, home, credential_id, amount },
        lease_ms: 2 * HOUR_MS,
        accrued: USED,
      }),
    finish: (...how: Parameters<typeof ended>) => {
      const call = ended(...how);
      return run(store, finish, call.keys, call.args);
    },
    undo: (call_id: string) =>
      run(
        store,
        undoCall,
        { ...placeOf(call_id), journal_key },
        {
          ...{ tenant, call_id, home, note: "{}", keep_ms: HOUR_MS },
          outcome: "" as const,
          retry_after_ms: "" as const,
        },
      ),
  };
}

/** What a path or a pair is measured on: a tenant and a pool in one cell. */
export interface Cell {
  readonly ledger: Ledger;
  readonly pool: Pool;
  readonly calls: Calls;
}

export const cellOf = (store: Evaluator, cell: string): Cell => ({
  ledger: ledgerOf(store, cell),
  pool: poolOf(store, cell),
  calls: callsOf(store, cell),
});

/** Admits where that is expected; a benchmark of refusals would look fast. */
export async function admitted(calls: Calls, ...how: Parameters<Calls["admit"]>) {
  const reply = await calls.admit(...how);
  if (reply.kind !== "admitted") throw new Error(`an admission was expected, not ${reply.kind}`);
  return reply;
}
