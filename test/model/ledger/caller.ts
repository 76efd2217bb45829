// From an operation to calls: which hold, how much, what was read before. It looks at the model to say so.
import { type Call, changed, MOST, printed } from "./calls.ts";
import { type Hold, type Ledger, total } from "./model.ts";
import type { Operation, Terms } from "./operations.ts";

const within = (amount: number) => Math.max(0, Math.min(amount, MOST));
/** Those with an id, by which the same may come again. */
const REPEATED = ["reserve", "settle", "void", "refund", "adjust"];
type Aim = Omit<Operation<"void">, "verb">;
type At = { tenant: string; sub: string };

export class Caller {
  private readonly ledger: Ledger;
  /** What an amount of 1 is. */
  private readonly unit: number;
  /** Last ones first. */
  private readonly said: Call[] = [];
  private tokens = 0;

  constructor(ledger: Ledger, unit: number) {
    this.ledger = ledger;
    this.unit = unit;
  }

  of(op: Operation): Call[] {
    const aimless = "state" in op && op.state !== "stray" && this.ledger.records.size === 0;
    const calls = aimless ? [] : this.callsOf(op).map(printed);
    this.said.unshift(...calls.filter(({ verb }) => op.verb !== "repeat" && REPEATED.includes(verb)));
    return calls;
  }

  private scaled = (amount: number) => within(amount * this.unit);
  private subOf = ({ tenant, sub }: At) => this.ledger.tenant(tenant).subs.get(sub);
  private available(at: At) {
    const purse = at.sub === "" ? this.ledger.tenant(at.tenant).account : this.subOf(at);
    return purse ? Number(this.ledger.amounts(purse).available) : 0;
  }
  private funds = (at: At) => this.available(at) + this.available({ ...at, sub: "" });

  private sized(size: Operation<"reserve">["size"], given: number, all: number) {
    if (size === "given") return this.scaled(given);
    return size === "most" ? MOST : within(all + (size === "over" ? 1 : 0));
  }

  /** How long the hold that an operation names has still to go. */
  dueIn(op: Aim) {
    const { known } = this.aimed({ ...op, state: "open" });
    return known?.state === "open" ? Math.max(0, known.expires_at_ms - this.ledger.now_ms) : 0;
  }

  private aimed({ tenant, hold, state, pick }: Aim) {
    const all = [...this.ledger.records.values()];
    const overdue = (one: Hold) => one.state === "open" && one.expires_at_ms <= this.ledger.now_ms;
    const is = (one: Hold) => (state === "due" ? overdue(one) : state === "any" || one.state === state);
    const those = all.filter(is);
    const from = those.length > 0 ? those : all;
    const known = state === "stray" ? undefined : from[pick % Math.max(1, from.length)];
    if (known) return { known, tenant: known.sub.tenant.name, hold: known.id };
    return { known: this.ledger.records.get(this.ledger.keyOf(tenant, hold)), tenant, hold };
  }

  /** An amount in terms of a hold. */
  private relative(how: string, more: number, known: Hold | undefined) {
    const held = Number(known?.amount ?? 0n);
    const funds = known ? this.funds({ tenant: known.sub.tenant.name, sub: known.sub.name }) : 0;
    const amounts: Record<string, number> = {
      less: Math.floor(held / 2),
      equal: held,
      more: held + more * this.unit,
      beyond: held + funds + more * this.unit,
      most: MOST,
    };
    return within(amounts[how] ?? 0);
  }

  private tokenOf({ tenant, sub, token, pick }: Operation<"reserve">) {
    const subs = [...this.ledger.tenant(tenant).subs.values()];
    const own = subs.find(({ name }) => name === sub)?.tokens ?? [];
    const others = subs.filter(({ name }) => name !== sub).flatMap(({ tokens }) => tokens ?? []);
    if (token === "none") return "";
    if (token === "own") return own[pick % Math.max(1, own.length)]?.sha256 ?? "";
    return token === "other" ? (others[0]?.sha256 ?? "s0") : `s${pick}`; // minted, revoked or never there
  }

  private reserve({ size, pick, ...op }: Operation<"reserve">): Call {
    const all = op.items.map((item) => ({ ...item, amount: this.scaled(item.amount) }));
    const [first] = all;
    const items =
      first && size !== "given" ? [{ ...first, amount: this.sized(size, 0, this.funds(op)) }] : all;
    return { ...op, items, token: this.tokenOf({ ...op, size, pick }), print: "" };
  }

  private settle({ verb, actual, more, used, ...op }: Operation<"settle">): Call {
    const { known, ...at } = this.aimed(op);
    const amount = this.relative(actual, more, known);
    const rows = (known?.items ?? []).map(({ model }, i) => ({ model, amount: i === 0 ? amount : 0 }));
    const shapes = {
      none: [],
      right: rows,
      other: rows.map((row, i) => (i === rows.length - 1 ? { ...row, model: "m3" } : row)),
      short: rows.slice(1),
      long: [...rows, { model: "m1", amount: 0 }],
    };
    return { verb, ...at, amount, used: shapes[used], print: "" };
  }

  private extend({ verb, ttl_ms, grow, accrued, more, ...op }: Operation<"extend">): Call {
    const { known, ...at } = this.aimed(op);
    const amount = this.relative(grow, more, known);
    return { verb, ...at, ttl_ms, amount, accrued: this.relative(accrued, more, known) };
  }

  private expire({ verb, wait, ...op }: Operation<"expire">): Call[] {
    const { known: _, ...at } = this.aimed(op);
    return [{ verb, ...at }];
  }

  private refund({ verb, op_id, part, more, ...op }: Operation<"refund">): Call {
    const { known, ...at } = this.aimed(op);
    const left = known ? Number(total(known.paid)) : 0;
    const parts = { some: Math.min(left, more * this.unit), all: left, too_much: left + 1 };
    return { verb, ...at, op_id, amount: Math.max(1, within(parts[part])) };
  }

  private adjust({ size, owing, ...op }: Operation<"adjust">): Call {
    const subs = owing ? [...this.ledger.tenant(op.tenant).subs.values()] : [];
    const sub = subs.find((one) => this.ledger.amounts(one).debt > 0n)?.name ?? op.sub;
    const all = this.available({ ...op, sub });
    const amount = op.how === "zero" ? 0 : this.sized(size, op.amount, all);
    return { ...op, sub, amount: Math.max(op.how === "deduct" ? 1 : 0, amount), print: "" };
  }

  /** What an operator has read, and what he writes. */
  private operator({ before, same }: Pick<Operation<"put">, "before" | "same">, now = "") {
    const read = { right: now, none: "", stale: '{"status":"gone"}' }[before];
    return { before: read, kept: same && now ? JSON.parse(now) : undefined };
  }

  private put({ verb, tenant, kind, config, ...op }: Operation<"put">): Call {
    const { before, kept } = this.operator(op, this.ledger.tenant(tenant).config);
    return { verb, tenant, kind, before, config: kept ?? config };
  }

  private putSub({ verb, tenant, sub, kind, terms, ...op }: Operation<"putSub">): Call {
    const { before, kept } = this.operator(op, this.subOf({ tenant, sub })?.config);
    const cap = terms.borrow_cap === undefined ? {} : { borrow_cap: this.scaled(terms.borrow_cap) };
    return { verb, tenant, sub, kind, before, terms: kept ?? { ...terms, ...cap } };
  }

  private rebirth({ tenant, sub, whole, amount, op_id }: Operation<"rebirth">): Call[] {
    const of = whole ? this.ledger.tenant(tenant) : this.subOf({ tenant, sub });
    const made = { before: "", kind: "config" as const };
    const terms: Terms = { status: "active" };
    return [
      ...(of ? this.ledger.open(of) : []).map(({ id }): Call => ({ verb: "void", tenant, hold: id })),
      whole ? { verb: "remove", tenant } : { verb: "removeSub", tenant, sub },
      ...(whole ? [{ verb: "put" as const, tenant, config: { status: "active" }, ...made }] : []),
      { verb: "putSub", tenant, sub, terms, ...made },
      { verb: "adjust", tenant, sub, op_id, how: "grant", amount: this.scaled(amount), print: "" },
    ];
  }

  private revokeToken({ verb, tenant, sub, pick, right }: Operation<"revokeToken">): Call {
    const tokens = this.subOf({ tenant, sub: right ? sub : sub === "app" ? "1e5" : "app" })?.tokens ?? [];
    return { verb, tenant, sub, id: tokens[pick % Math.max(1, tokens.length)]?.id ?? "t0" };
  }

  private callsOf(op: Operation): Call[] {
    switch (op.verb) {
      case "rest":
      case "wait":
      case "until":
        return [];
      case "repeat": {
        const call = this.said[op.pick % Math.max(1, this.said.length)];
        return call ? [op.other ? changed(call) : call] : [];
      }
      case "addToken": {
        this.tokens++;
        return [{ ...op, id: `t${this.tokens}`, sha256: `s${this.tokens}` }];
      }
      case "expire":
        return this.expire(op);
      case "void": {
        const { tenant, hold } = this.aimed(op);
        return [{ verb: op.verb, tenant, hold }];
      }
      case "rebirth":
        return this.rebirth(op);
      case "remove":
      case "removeSub":
        return [op];
      default:
        return [this[op.verb](op as never)];
    }
  }
}
