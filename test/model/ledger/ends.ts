// In the model: how a hold ends, and what comes back after its end.
import { HOLD_KEEP_MS } from "../../support/ledger.ts";
import type { Calls } from "./calls.ts";
import { closed, find } from "./holds.ts";
import { firstOf, type Hold, type Ledger, least, MAX, minus, plus, type Sub, total } from "./model.ts";
import { fundsOf, lifeOf, type Outcome, type Reply, rowsOf } from "./outcome.ts";

const assets = (ledger: Ledger, sub: Sub) => sub.funded + ledger.amounts(sub).debt;

/** Ends it with that charge: keeps what was drawn first, or draws more, and owes what is missing. False: it would owe too much. */
function end(ledger: Ledger, hold: Hold, state: Hold["state"], actual: bigint, end_print = "-") {
  const before = { ...hold };
  const had = hold.state === "open" ? hold.funding : hold.paid;
  const { kept, lacked } = firstOf(had, hold.owed, actual);
  const extra = actual - total(kept);
  const { drawn, missing } = ledger.draw(hold.sub, extra);
  const returned = minus(had, kept);
  const owed = lacked + missing;
  Object.assign(hold, { state, returned, end_print, charged: actual, debt: owed, owed });
  hold.paid = plus(plus(kept, drawn), { sub_account: missing, account: 0n });
  if (assets(ledger, hold.sub) <= MAX) {
    hold.kept_until_ms = ledger.now_ms + HOLD_KEEP_MS;
    return true;
  }
  Object.assign(hold, before);
  return false;
}

function settled(hold: Hold, replayed: boolean): Reply {
  const { charged, returned, debt } = hold;
  return {
    kind: "settled",
    charged: Number(charged),
    returned: fundsOf(returned),
    debt: Number(debt),
    replayed,
  };
}

export function settle(ledger: Ledger, call: Calls["settle"]): Outcome {
  const known = ledger.records.get(ledger.keyOf(call.tenant, call.hold));
  if (known?.state === "settled" && known.end_print === call.print) return { reply: settled(known, true) };
  const hold = find(ledger, call);
  if ("kind" in hold) return { reply: hold };
  if (hold.state !== "open" && hold.state !== "expired") return { reply: closed(hold) };
  const names = (rows: readonly { model: string }[]) => JSON.stringify(rows.map(({ model }) => model));
  if (call.used.length > 0 && names(call.used) !== names(hold.items)) return { reply: { kind: "mismatch" } };
  const charged = hold.charged;
  const amount = BigInt(call.amount);
  if (!end(ledger, hold, "settled", amount, call.print)) return { reply: { kind: "unsafe" } };
  return { reply: settled(hold, false), entry: lifeOf(hold, "settle", "internal", amount - charged) };
}

export function voidHold(ledger: Ledger, call: Calls["void"]): Outcome {
  const voided = (hold: Hold, replayed: boolean) => ({
    kind: "voided",
    returned: fundsOf(hold.returned),
    replayed,
  });
  const known = ledger.records.get(ledger.keyOf(call.tenant, call.hold));
  if (known?.state === "voided") return { reply: voided(known, true) };
  const hold = find(ledger, call);
  if ("kind" in hold) return { reply: hold };
  if (hold.state !== "open") return { reply: closed(hold) };
  end(ledger, hold, "voided", 0n);
  return { reply: voided(hold, false), entry: lifeOf(hold, "void", "internal", 0n) };
}

export function expire(ledger: Ledger, call: Calls["expire"]): Outcome {
  const hold = find(ledger, call);
  if ("kind" in hold) return { reply: hold };
  if (hold.state !== "open") return { reply: closed(hold) };
  const { expires_at_ms } = hold;
  if (ledger.now_ms < expires_at_ms) return { reply: { kind: "not_due", expires_at_ms } };
  // It cannot be refused for what it would owe: it charges what can be owed.
  const room = MAX - assets(ledger, hold.sub);
  end(ledger, hold, "expired", least(hold.accrued, hold.amount + room));
  const reply = { kind: "expired", charged: Number(hold.charged), returned: fundsOf(hold.returned) };
  return { reply, entry: lifeOf(hold, "expire", "sweep", hold.charged) };
}

export function refund(ledger: Ledger, call: Calls["refund"]): Outcome {
  const known = ledger.records.get(ledger.keyOf(call.tenant, call.hold));
  const earlier = known?.refunds.find(({ op_id }) => op_id === call.op_id);
  const amount = BigInt(call.amount);
  if (earlier && earlier.amount !== amount) return { reply: { kind: "conflict" } };
  if (earlier) {
    const { returned, left } = earlier;
    return { reply: { kind: "refunded", returned: fundsOf(returned), left: Number(left), replayed: true } };
  }
  const hold = find(ledger, call);
  if ("kind" in hold) return { reply: hold };
  if (hold.state !== "settled") return { reply: { kind: "not_settled", state: hold.state } };
  const left = total(hold.paid) - amount;
  if (left < 0n) return { reply: { kind: "too_much", left: Number(left + amount) } };
  const { kept, lacked } = firstOf(hold.paid, hold.owed, left);
  const returned = minus(hold.paid, kept);
  Object.assign(hold, { paid: kept, owed: lacked });
  hold.refunds.push({ op_id: call.op_id, amount, returned, left });
  const { id, sub, home, metadata } = hold;
  const detail = { returned: rowsOf(returned), left: Number(left), home, note: {} };
  const about = { sub_account: sub.name, hold: id, op: call.op_id, amount: -amount, detail, metadata };
  return {
    reply: { kind: "refunded", returned: fundsOf(returned), left: Number(left), replayed: false },
    entry: { tenant: sub.tenant, kind: "refund", actor: "internal", ...about },
  };
}
