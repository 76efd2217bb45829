// One tenant under measurement: its verbs on a direct connection, each a call of the production script.
import { fingerprintOf, mint } from "../../src/ids.ts";
import { keysOf } from "../../src/keys.ts";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { adjust } from "../../src/scripts/quota/adjust.ts";
import { expire } from "../../src/scripts/quota/expire.ts";
import { extend } from "../../src/scripts/quota/extend.ts";
import { refund } from "../../src/scripts/quota/refund.ts";
import { reserve } from "../../src/scripts/quota/reserve.ts";
import { settle } from "../../src/scripts/quota/settle.ts";
import { voidHold } from "../../src/scripts/quota/void.ts";
import { run } from "../../src/scripts/run.ts";
import { addToken } from "../../src/scripts/tenant/add_token.ts";
import { putTenant } from "../../src/scripts/tenant/put.ts";
import { putSubAccount } from "../../src/scripts/tenant/put_sub.ts";
import { inParallel } from "../lib/timing.ts";

const KEEP_MS = 60 * 60_000;
const NOTE = "{}";
/** 10 to 60 minutes: longer than the benchmark, and with no order in which they end. */
const someTerm_ms = () => Math.floor((10 + Math.random() * 50) * 60_000);

/** As much as one call may cost in micro-units, and as much as it did. */
export const AMOUNT = 2_700;
export const USED = 1_900;
export const PLENTY = 10 ** 12;

export interface Asked {
  /** Rows of one model each; the amount is shared out among them. */
  readonly items?: number;
  readonly ttl_ms?: number;
  readonly token?: string;
  /** The pool whose breaker is asked. */
  readonly pool?: { readonly home: string; readonly pool_key: string };
}

export type Ledger = ReturnType<typeof ledgerOf>;

/** Ids of usual length. */
export const subsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `team-of-acme-${String(i).padStart(5, "0")}`);
export const newHoldId = () => mint("hld");
export const newOpId = () => mint("op");
/** Every tenant is alone in a cell of its own. */
export const newCell = () => mint("cell");

const itemsOf = (count: number, amount: number) =>
  Array.from({ length: count }, (_, i) => ({
    model: `gpt-large-${i}`,
    amount: i === 0 ? amount - (count - 1) : 1,
    tokens: 1_200,
    requests: 1,
  }));

export function ledgerOf(store: Evaluator, cell: string) {
  const tenant = "acme";
  const keys = keysOf(cell);
  const { tenant_key, subs_key, due_key, journal_key } = keys.tenant(tenant);
  const keysOfEnd = (hold_id: string) => ({
    tenant_key,
    hold_key: keys.hold(tenant, hold_id),
    due_key,
    journal_key,
  });

  /** The keys and arguments of a reserve. */
  const asked = (sub_account: string, hold_id: string, amount: number = AMOUNT, more: Asked = {}) => {
    const items = itemsOf(more.items ?? 1, amount);
    const { home, pool_key } = more.pool ?? { home: "-", pool_key: tenant_key };
    const fingerprint = fingerprintOf([sub_account, JSON.stringify(items), home]);
    const ttl_ms = more.ttl_ms ?? someTerm_ms();
    const metadata = '{"trace":"0af7651916cd43dd8448eb211c80319c"}';
    return {
      keys: { tenant_key, hold_key: keys.hold(tenant, hold_id), due_key, pool_key },
      args: {
        tenant,
        sub_account,
        hold_id,
        fingerprint,
        token: more.token ?? ("" as const),
        ttl_ms,
        home,
        items,
        metadata,
      },
    };
  };

  /** The keys and arguments of a settle. */
  const used = (hold_id: string, amount: number = USED) => ({
    keys: keysOfEnd(hold_id),
    args: {
      tenant,
      hold_id,
      fingerprint: fingerprintOf([String(amount)]),
      amount,
      used: [],
      note: NOTE,
      keep_ms: KEEP_MS,
    },
  });

  const putSub = (sub_account: string, terms: object = {}) =>
    run(
      store,
      putSubAccount,
      { tenant_key, subs_key, journal_key },
      {
        tenant,
        sub_account,
        config_before: "",
        config: JSON.stringify({ status: "active", borrow_cap: PLENTY, max_concurrent: 1_000_000, ...terms }),
        kind: "config",
        note: NOTE,
      },
    );

  return {
    journal_key,
    due_key,
    holdKey: (hold_id: string) => keys.hold(tenant, hold_id),
    asked,
    used,
    put: (status = "active") =>
      run(
        store,
        putTenant,
        { tenant_key, index_key: keys.index("tenants"), journal_key },
        { tenant, config_before: "", config: JSON.stringify({ status }), kind: "config", note: NOTE },
      ),
    putSub,
    fill: (subs: readonly string[]) =>
      inParallel(subs.length, 64, async (i) => {
        const { kind } = await putSub(subs[i] ?? "");
        if (kind !== "created") throw new Error(`a sub-account was not made: ${kind}`);
      }),
    addToken: (sub_account: string, sha256: string) =>
      run(
        store,
        addToken,
        { tenant_key, journal_key },
        { tenant, sub_account, token_id: "one", sha256, name: "one", note: NOTE },
      ),
    /** `sub_account` "" is the account. */
    adjust: (
      sub_account: string,
      op_id: string,
      amount: number,
      how: "grant" | "deduct" | "set" | "zero" = "grant",
    ) =>
      run(
        store,
        adjust,
        { tenant_key, op_key: keys.op(tenant, op_id), journal_key },
        {
          tenant,
          sub_account,
          op_id,
          fingerprint: fingerprintOf([sub_account, how, String(amount)]),
          how,
          note: NOTE,
          amount,
          keep_ms: KEEP_MS,
        },
      ),
    reserve: (...how: Parameters<typeof asked>) => {
      const call = asked(...how);
      return run(store, reserve, call.keys, call.args);
    },
    settle: (...how: Parameters<typeof used>) => {
      const call = used(...how);
      return run(store, settle, call.keys, call.args);
    },
    void: (hold_id: string) =>
      run(store, voidHold, keysOfEnd(hold_id), { tenant, hold_id, note: NOTE, keep_ms: KEEP_MS }),
    expire: (hold_id: string) =>
      run(store, expire, keysOfEnd(hold_id), { tenant, hold_id, keep_ms: KEEP_MS }),
    extend: (hold_id: string, amount = 0) =>
      run(
        store,
        extend,
        { tenant_key, hold_key: keys.hold(tenant, hold_id), due_key },
        { tenant, hold_id, ttl_ms: 2 * 60 * 60_000, amount, accrued: USED },
      ),
    refund: (hold_id: string, op_id: string, amount: number) =>
      run(
        store,
        refund,
        { tenant_key, hold_key: keys.hold(tenant, hold_id), journal_key },
        { tenant, hold_id, op_id, amount, note: NOTE },
      ),
  };
}

/** Takes only the outcome that is expected; a benchmark of refusals would look fast. */
export async function expecting<T extends { kind: string }>(kind: T["kind"], reply: Promise<T>): Promise<T> {
  const got = await reply;
  if (got.kind !== kind) throw new Error(`${kind} was expected, not ${got.kind}`);
  return got;
}
