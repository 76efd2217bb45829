// The journal against the model: each change is told once, in full, and what the entries say adds up to what the purses are.
import assert from "node:assert/strict";
import { purseOf } from "../../support/ledger.ts";
import type { Ledger, Purse, Tenant } from "./model.ts";
import type { Entry } from "./outcome.ts";
import type { View } from "./view.ts";

/** Of a purse: spent, lapsed, debt, funded, as in the entries; then what is available and held. */
type Amounts = bigint[];
type Purses = Map<string, Amounts>;
const NONE: Amounts = [0n, 0n, 0n, 0n, 0n, 0n];

function amountsOf(ledger: Ledger, purse: Purse): Amounts {
  const { available, held, spent, lapsed, debt, funded } = ledger.amounts(purse);
  return [spent, lapsed, debt, funded, available, held];
}

/** All that a tenant has, the account first. */
export function pursesOf(ledger: Ledger, tenant: Tenant): Purses {
  const subs = [...tenant.subs.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const own: [string, Purse][] = subs.map((sub) => [`purse:${sub.name}`, sub]);
  const all: [string, Purse][] = tenant.config ? [["account", tenant.account], ...own] : [];
  return new Map(all.map(([field, purse]) => [field, amountsOf(ledger, purse)]));
}

function changesOf(before: Purses, after: Purses) {
  const fields = [...new Set([...before.keys(), ...after.keys()])];
  return fields.flatMap((field) => {
    const [was, is] = [before.get(field) ?? NONE, after.get(field) ?? NONE];
    if (is.every((n, i) => n === was[i])) return [];
    const by = is.slice(0, 4).map((n, i) => Number(n - (was[i] ?? 0n)));
    const [spent, lapsed, debt, funded, available, held] = is.map(Number);
    return [[field, ...by, available, held, spent, lapsed, debt, funded]];
  });
}

/** The raw entry's texts; its `detail` apart, since its fields have no order that matters. */
function expected(ledger: Ledger, entry: Entry, before: Purses) {
  const { tenant, kind, actor, sub_account = "", hold = "", op = "", amount, metadata = "" } = entry;
  return {
    kind,
    aggregate: `tenant:${tenant.name}`,
    seq: String(tenant.seq),
    at: String(ledger.now_ms),
    actor,
    sub_account,
    hold,
    op,
    amount: amount === undefined ? "" : String(amount),
    purses: JSON.stringify(changesOf(before, pursesOf(ledger, tenant))),
    metadata,
  };
}

export class Journal {
  /** How many entries there are. */
  entries = 0;
  private readonly sums = new Map<string, bigint[]>();
  /** How each hold ended, in its order. */
  private readonly endings = new Map<string, string[]>();

  check(ledger: Ledger, entry: Entry, before: Purses, { last }: View) {
    this.entries++;
    const { detail = "", ...texts } = last;
    assert.deepEqual(texts, expected(ledger, entry, before), "the entry");
    assert.deepEqual(JSON.parse(detail), entry.detail, "the entry's detail");
    this.add(last);
  }

  /** From here on only what the entries say themselves. */
  private add({ kind = "", aggregate, hold, purses = "", detail = "" }: View["last"]) {
    for (const [field, ...by] of JSON.parse(purses)) {
      const key = `${aggregate} ${field}`;
      const sums = this.sums.get(key) ?? [];
      this.sums.set(
        key,
        [0, 1, 2, 3].map((i) => (sums[i] ?? 0n) + BigInt(by[i])),
      );
    }
    if (!["settle", "void", "expire"].includes(kind)) return;
    const key = `${aggregate} ${hold} ${JSON.parse(detail).opened_at_ms}`;
    const kinds = [...(this.endings.get(key) ?? []), kind];
    assert(kinds.length === 1 || kinds.join() === "expire,settle", `${key} ended as ${kinds}`);
    this.endings.set(key, kinds);
  }

  /** What the entries say adds up to what there is. */
  addsUp({ tenants }: View) {
    const left = new Map(this.sums);
    for (const [tenant, hash] of Object.entries(tenants)) {
      for (const field of Object.keys(hash).filter(
        (name) => name === "account" || name.startsWith("purse:"),
      )) {
        const key = `tenant:${tenant} ${field}`;
        const { spent, lapsed, debt, funded } = purseOf(hash[field]);
        const sums = (left.get(key) ?? NONE.slice(2)).map(Number);
        assert.deepEqual(sums, [spent, lapsed, debt, funded], `the entries of ${key}`);
        left.delete(key);
      }
    }
    for (const [key, sums] of left)
      assert(
        sums.every((n) => n === 0n),
        `${key} is gone, and nothing is left of it`,
      );
  }
}
