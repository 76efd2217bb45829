// One tenant's ledger under test: a short call per verb, with defaults for what a test does not care about.
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import { type ADJUSTMENTS, adjust } from "../../src/scripts/quota/adjust.ts";
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
import { removeTenant } from "../../src/scripts/tenant/remove.ts";
import { removeSubAccount } from "../../src/scripts/tenant/remove_sub.ts";
import { revokeToken } from "../../src/scripts/tenant/revoke_token.ts";
import { keys } from "./redis.ts";

export const HOLD_KEEP_MS = 3_600_000;
const OP_KEEP_MS = 24 * 3_600_000;
const NOTE = "{}";

export interface Item {
  model: string;
  amount: number;
  tokens?: number;
  requests?: number;
}
interface Reserve {
  items?: Item[];
  ttl_ms?: number;
  fingerprint?: string;
  token?: string;
  /** `<provider>:<pool>`, with `pool_key`. */
  home?: string;
  pool_key?: string;
  metadata?: string;
}
export interface SubTerms {
  status?: "active" | "frozen";
  borrow_cap?: number;
  max_concurrent?: number;
}

export function ledgerOf(store: () => Evaluator, tenant = "acme") {
  const place = keys.tenant(tenant);
  const { tenant_key, subs_key, due_key, journal_key } = place;
  const index_key = keys.index("tenants");
  const hold_key = (hold_id: string) => keys.hold(tenant, hold_id);
  const ofHold = (hold_id: string) => ({ tenant_key, hold_key: hold_key(hold_id), due_key, journal_key });
  return {
    tenant,
    ...place,
    hold_key,
    put: (config: object = { status: "active" }, config_before = "", kind: "config" | "status" = "config") =>
      run(
        store(),
        putTenant,
        { tenant_key, index_key, journal_key },
        { tenant, config_before, config: JSON.stringify(config), kind, note: NOTE },
      ),
    putSub: (
      sub_account: string,
      terms: SubTerms = {},
      config_before = "",
      kind: "config" | "status" = "config",
    ) =>
      run(
        store(),
        putSubAccount,
        { tenant_key, subs_key, journal_key },
        {
          tenant,
          sub_account,
          config_before,
          config: JSON.stringify({ status: "active", ...terms }),
          kind,
          note: NOTE,
        },
      ),
    remove: () =>
      run(store(), removeTenant, { tenant_key, subs_key, index_key, journal_key }, { tenant, note: NOTE }),
    removeSub: (sub_account: string) =>
      run(
        store(),
        removeSubAccount,
        { tenant_key, subs_key, journal_key },
        { tenant, sub_account, note: NOTE },
      ),
    addToken: (sub_account: string, token_id: string, sha256: string, name = token_id) =>
      run(
        store(),
        addToken,
        { tenant_key, journal_key },
        { tenant, sub_account, token_id, sha256, name, note: NOTE },
      ),
    revokeToken: (sub_account: string, token_id: string) =>
      run(store(), revokeToken, { tenant_key, journal_key }, { tenant, sub_account, token_id, note: NOTE }),
    /** `sub_account` "" adjusts the account. */
    adjust: (
      sub_account: string,
      op_id: string,
      how: (typeof ADJUSTMENTS)[number],
      amount: number,
      fingerprint = `${sub_account}|${how}|${amount}`,
    ) =>
      run(
        store(),
        adjust,
        { tenant_key, op_key: keys.op(tenant, op_id), journal_key },
        { tenant, sub_account, op_id, fingerprint, how, note: NOTE, amount, keep_ms: OP_KEEP_MS },
      ),
    reserve: (sub_account: string, hold_id: string, amount: number, more: Reserve = {}) => {
      const items = (more.items ?? [{ model: "m", amount }]).map((item) => ({
        tokens: 0,
        requests: 1,
        ...item,
      }));
      const { ttl_ms = 120_000, token = "", home = "-", pool_key = tenant_key, metadata = "" } = more;
      const fingerprint =
        more.fingerprint ?? Buffer.from(JSON.stringify([sub_account, items])).toString("hex");
      return run(
        store(),
        reserve,
        { tenant_key, hold_key: hold_key(hold_id), due_key, pool_key },
        { tenant, sub_account, hold_id, fingerprint, token, ttl_ms, home, items, metadata },
      );
    },
    settle: (
      hold_id: string,
      amount: number,
      used: { model: string; amount: number }[] = [],
      fingerprint = Buffer.from(JSON.stringify([amount, used])).toString("hex"),
    ) =>
      run(store(), settle, ofHold(hold_id), {
        tenant,
        hold_id,
        fingerprint,
        amount,
        used,
        note: NOTE,
        keep_ms: HOLD_KEEP_MS,
      }),
    void: (hold_id: string) =>
      run(store(), voidHold, ofHold(hold_id), { tenant, hold_id, note: NOTE, keep_ms: HOLD_KEEP_MS }),
    expire: (hold_id: string) =>
      run(store(), expire, ofHold(hold_id), { tenant, hold_id, keep_ms: HOLD_KEEP_MS }),
    extend: (hold_id: string, ttl_ms: number, amount = 0, accrued = 0) =>
      run(
        store(),
        extend,
        { tenant_key, hold_key: hold_key(hold_id), due_key },
        { tenant, hold_id, ttl_ms, amount, accrued },
      ),
    refund: (hold_id: string, op_id: string, amount: number) =>
      run(
        store(),
        refund,
        { tenant_key, hold_key: hold_key(hold_id), journal_key },
        { tenant, hold_id, op_id, amount, note: NOTE },
      ),
  };
}

export type Ledger = ReturnType<typeof ledgerOf>;

const AMOUNTS = [
  "available",
  "held",
  "spent",
  "lapsed",
  "debt",
  "funded",
  "borrowed",
  "in_flight",
  "made",
] as const;

/** A packed purse, by name. */
export function purseOf(text: string | null | undefined): Record<(typeof AMOUNTS)[number], number> {
  const [version, ...values] = (text ?? "").split(" ");
  if (version !== "1" || values.length !== AMOUNTS.length) throw new Error("a purse cannot be read");
  return Object.fromEntries(AMOUNTS.map((name, i) => [name, Number(values[i])])) as ReturnType<
    typeof purseOf
  >;
}

/** A tenant's packed state, by name. */
export function tenantStateOf(text: string | null | undefined) {
  const [, seq, subs, open, reserved, refused] = (text ?? "").split(" ").map(Number);
  return { seq, subs, open, reserved, refused };
}

/** Entries of a stream as XRANGE answers them. */
export const entriesOf = (raw: [id: string, fields: string[]][]): Record<string, string>[] =>
  raw.map(([, fields]) =>
    Object.fromEntries(fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1] ?? ""]] : []))),
  );
