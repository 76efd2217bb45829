// Calls of the ledger's verbs, as the model and the scripts are both given them.
import type { ADJUSTMENTS } from "../../../src/scripts/quota/adjust.ts";
import type { Terms } from "./operations.ts";

interface OfTenant {
  tenant: string;
}
interface OfSub extends OfTenant {
  sub: string;
}
interface OfHold extends OfTenant {
  hold: string;
}
interface Item {
  model: string;
  amount: number;
  tokens: number;
  requests: number;
}
type Change = { before: string; kind: "config" | "status" };

export interface Calls {
  reserve: OfSub &
    OfHold & { items: Item[]; ttl_ms: number; token: string; home: string; metadata: string; print: string };
  settle: OfHold & { amount: number; used: { model: string; amount: number }[]; print: string };
  void: OfHold;
  expire: OfHold;
  extend: OfHold & { ttl_ms: number; amount: number; accrued: number };
  refund: OfHold & { op_id: string; amount: number };
  /** `sub` "" is the account. */
  adjust: OfSub & { op_id: string; how: (typeof ADJUSTMENTS)[number]; amount: number; print: string };
  put: OfTenant & Change & { config: object };
  putSub: OfSub & Change & { terms: Terms };
  remove: OfTenant;
  removeSub: OfSub;
  addToken: OfSub & { id: string; sha256: string; name: string };
  revokeToken: OfSub & { id: string };
}
export type Call<V extends keyof Calls = keyof Calls> = { [K in V]: { verb: K } & Calls[K] }[V];

export const MOST = Number.MAX_SAFE_INTEGER;

const printOf = (...said: unknown[]) => Buffer.from(JSON.stringify(said)).toString("hex");

/** With the fingerprint of what it asks for. */
export function printed<C extends Call>(call: C): C {
  if (call.verb === "reserve") return { ...call, print: printOf(call.sub, call.items) };
  if (call.verb === "settle") return { ...call, print: printOf(call.amount, call.used) };
  return call.verb === "adjust" ? { ...call, print: printOf(call.sub, call.how, call.amount) } : call;
}

/** The same id, but for another amount. */
export function changed(call: Call): Call {
  const other = (amount: number) => (amount === MOST ? MOST - 1 : amount + 1);
  if (call.verb === "reserve") {
    const [first, ...rest] = call.items;
    return printed(first ? { ...call, items: [{ ...first, amount: other(first.amount) }, ...rest] } : call);
  }
  if (call.verb === "settle" || call.verb === "refund" || call.verb === "adjust")
    return printed({ ...call, amount: other(call.amount) });
  return call;
}
