// The ledger in the plainest terms: facts only. What was put in, and what each hold took from where; the rest is added up.
// It keeps no balance, no counter of what is open or borrowed, and computes in bigint, so it has nothing to lose digits in.
import type { HOLD_STATES } from "../../../src/scripts/types.ts";

/** Far ahead, so that no key ends by the real clock; and always the same, so that a seed gives the same history. */
const START_MS = Date.UTC(2100, 0);
export const MAX = 2n ** 53n - 1n;

export interface Purse {
  readonly made: number;
  /** What was put in, less what was taken out. */
  funded: bigint;
}
export interface Token {
  readonly id: string;
  readonly sha256: string;
  readonly name: string;
  readonly made_at_ms: number;
}
export interface Sub extends Purse {
  readonly tenant: Tenant;
  readonly name: string;
  readonly account: Purse;
  config: string;
  /** Absent until it has had one. */
  tokens?: Token[];
}
export interface Tenant {
  readonly name: string;
  /** How many changes it has seen, and what its callers were told. */
  seq: number;
  reserved: number;
  refused: number;
  /** "" while there is no such tenant. */
  config: string;
  account: Purse;
  readonly subs: Map<string, Sub>;
}
export interface Parts {
  readonly sub_account: bigint;
  readonly account: bigint;
}
export const NOTHING: Parts = { sub_account: 0n, account: 0n };

export interface Refund {
  readonly op_id: string;
  readonly amount: bigint;
  readonly returned: Parts;
  readonly left: bigint;
}
export interface Hold {
  readonly id: string;
  readonly sub: Sub;
  readonly print: string;
  readonly items: readonly { model: string; amount: number; tokens: number; requests: number }[];
  readonly home: string;
  readonly metadata: string;
  readonly opened_at_ms: number;
  state: (typeof HOLD_STATES)[number];
  expires_at_ms: number;
  amount: bigint;
  accrued: bigint;
  /** Held while it is open. */
  funding: Parts;
  /** Charged, and not refunded. */
  paid: Parts;
  returned: Parts;
  charged: bigint;
  debt: bigint;
  /** What of `paid` was drawn when no purse had anything left: the sub-account's, and the last to have been drawn. */
  owed: bigint;
  end_print: string;
  refunds: Refund[];
  /** 0 while it is open. */
  kept_until_ms: number;
}
export interface Op {
  readonly print: string;
  readonly answer: { by: number; available: number; debt: number };
  readonly kept_until_ms: number;
}

const sorted = (all: bigint[]) => all.sort((a, b) => (a < b ? -1 : 1));
export const least = (...all: [bigint, ...bigint[]]) => sorted(all)[0] ?? all[0];
export const most = (...all: [bigint, ...bigint[]]) => sorted(all).at(-1) ?? all[0];
export const sum = (all: bigint[]) => all.reduce((x, y) => x + y, 0n);
export const total = ({ sub_account, account }: Parts) => sub_account + account;
export const minus = (a: Parts, b: Parts): Parts => ({
  sub_account: a.sub_account - b.sub_account,
  account: a.account - b.account,
});
export const plus = (a: Parts, b: Parts): Parts => ({
  sub_account: a.sub_account + b.sub_account,
  account: a.account + b.account,
});
/** The first `amount` of what was drawn: of what the sub-account had, of what the account had, then of what nobody had. */
export function firstOf({ sub_account, account }: Parts, owed: bigint, amount: bigint) {
  const own = least(sub_account - owed, amount);
  const lent = least(account, amount - own);
  const lacked = least(owed, amount - own - lent);
  return { kept: { sub_account: own + lacked, account: lent }, lacked };
}

const newTenant = (name: string): Tenant => ({
  name,
  seq: 0,
  reserved: 0,
  refused: 0,
  config: "",
  account: { made: 0, funded: 0n },
  subs: new Map(),
});

export class Ledger {
  now_ms = START_MS;
  readonly tenants: Map<string, Tenant>;
  /** Every hold there ever was: what it paid stays spent when its record is gone. */
  readonly holds: Hold[] = [];
  /** By tenant and id, for as long as the service remembers. */
  readonly records = new Map<string, Hold>();
  readonly ops = new Map<string, Op>();

  constructor(names: readonly string[]) {
    this.tenants = new Map(names.map((name) => [name, newTenant(name)]));
  }

  tenant(name: string): Tenant {
    const tenant = this.tenants.get(name);
    if (!tenant) throw new Error("a tenant of no history");
    return tenant;
  }

  /** The open holds of a tenant, or of one of its sub-accounts as it is now. */
  open = (of: Tenant | Sub) =>
    this.holds.filter(({ state, sub }) => state === "open" && (sub === of || sub.tenant === of));

  /** What holds have taken out of a purse, each its share. */
  private sharesOf(purse: Purse, of: (hold: Hold) => Parts) {
    return sum(
      this.holds.flatMap((hold) => {
        if (hold.sub === purse) return [of(hold).sub_account];
        return hold.sub.account === purse ? [of(hold).account] : [];
      }),
    );
  }

  amounts(purse: Purse) {
    const held = this.sharesOf(purse, (hold) => (hold.state === "open" ? hold.funding : NOTHING));
    const spent = this.sharesOf(purse, (hold) => hold.paid);
    const rest = purse.funded - held - spent;
    return {
      available: most(rest, 0n),
      held,
      spent,
      lapsed: 0n,
      debt: most(-rest, 0n),
      funded: purse.funded,
    };
  }

  /** What a sub-account has of its account now: held, or spent and not given back. */
  borrowed = (of: Sub) =>
    sum(
      this.holds
        .filter(({ sub }) => sub === of)
        .map(({ state, funding, paid }) => (state === "open" ? funding : paid).account),
    );

  /** Where an amount would come from, and what would be missing. */
  draw(sub: Sub, amount: bigint, borrow_cap?: bigint) {
    const sub_account = least(amount, this.amounts(sub).available);
    const room = borrow_cap === undefined ? MAX : most(0n, borrow_cap - this.borrowed(sub));
    const account = least(amount - sub_account, this.amounts(sub.account).available, room);
    return { drawn: { sub_account, account }, missing: amount - sub_account - account };
  }

  keyOf = (tenant: string, id: string) => `${tenant}/${id}`;

  /** The moments at which open holds, their records or ops end, next ones first. */
  ends(of: "hold" | "record" | "op"): number[] {
    const records = [...this.records.values()];
    const all = {
      hold: () => records.filter(({ state }) => state === "open").map((hold) => hold.expires_at_ms),
      record: () => records.map(({ kept_until_ms }) => kept_until_ms),
      op: () => [...this.ops.values()].map(({ kept_until_ms }) => kept_until_ms),
    };
    const ahead = all[of]().filter((time_ms) => time_ms > this.now_ms);
    return [...new Set(ahead)].sort((a, b) => a - b);
  }
}
