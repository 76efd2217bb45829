// Reserve and settle as a pair to be sampled, in a tenant of any size.
import { granted, poolOf } from "../lib/pool.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import { type Subject, WIDTH } from "../lib/sample.ts";
import { inParallel } from "../lib/timing.ts";
import {
  AMOUNT,
  type Asked,
  expecting,
  ledgerOf,
  newCell,
  newHoldId,
  newOpId,
  PLENTY,
  subsOf,
} from "./ledger.ts";

export interface Tenant {
  readonly subs?: number;
  /** Holds that stay open while others come and go. */
  readonly open?: number;
  /** Models that a call names. */
  readonly items?: number;
  /** Whether a call asks a pool's breaker. */
  readonly pool?: boolean;
  /** Whose funds pay: a borrowed call takes a little of its own, and the rest of the account's. */
  readonly funds?: "own" | "borrowed" | "account";
  readonly end?: "settle" | "void";
}

export async function holds(db: Database, name: string, how: Tenant = {}): Promise<Subject> {
  const store = evaluatorOn(db.main);
  const cell = newCell();
  const ledger = ledgerOf(store, cell);
  const pool = poolOf(store, cell);
  const subs = subsOf(how.subs ?? 1);
  const { funds = "own", end = "settle" } = how;
  await ledger.put();
  await ledger.fill(subs);
  await ledger.adjust("", newOpId(), PLENTY);
  const fund = async (i: number, amount: number) => ledger.adjust(subs[i] ?? "", newOpId(), amount, "set");
  if (funds === "own") await inParallel(subs.length, WIDTH, (i) => fund(i, PLENTY));
  if (how.pool) {
    await pool.put("key-1", 10);
    await granted(pool, "lease-1", ["key-1"]);
    await pool.release("lease-1", "key-1", "upstream_error"); // a breaker that has something to say
  }
  const asked: Asked = { items: how.items ?? 1, ...(how.pool ? { pool } : {}) };
  const reserve = (i: number, hold_id: string) =>
    expecting("reserved", ledger.reserve(subs[i % subs.length] ?? "", hold_id, AMOUNT, asked));
  await inParallel(how.open ?? 0, 4 * WIDTH, (i) => reserve(i, newHoldId()));
  let wanted: string[] = [];
  return {
    name,
    prepare: async (count) => {
      wanted = Array.from({ length: count }, newHoldId);
      if (funds === "borrowed") await fund(0, count); // a unit for each call, the rest is lent
    },
    take: (i) => reserve(i, wanted[i] ?? ""),
    give: (i) => {
      const hold_id = wanted[i] ?? "";
      return end === "void"
        ? expecting("voided", ledger.void(hold_id))
        : expecting("settled", ledger.settle(hold_id));
    },
  };
}
