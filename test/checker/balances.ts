// Follows a tenant's purses through its journal: each entry goes on from where the last one left, and its amount is what moved.
import type { Change, Entry } from "./entries.ts";
import { least, type Report, sum } from "./words.ts";

export type Balance = Change["after"];
const NAMES = ["spent", "lapsed", "debt", "funded"] as const;
const NOTHING: Balance = { spent: 0n, lapsed: 0n, debt: 0n, funded: 0n };

const isRemoval = ({ kind, detail }: Entry) =>
  kind === "config" && (detail as { change?: unknown }).change === "removed";

function checkChange(entry: Entry, change: Change, before: Balance, report: Report) {
  const where = `${entry.name}, ${change.purse}`;
  for (const name of NAMES) {
    const after = before[name] + change.by[name];
    if (after !== change.after[name])
      report(
        `${where}: ${name} is ${change.after[name]}, and ${before[name]} before and a change make ${after}`,
      );
  }
  const { spent, lapsed, debt, funded } = change.after;
  const { available, held } = change;
  if (available + held !== funded - spent - lapsed + debt) report(`${where}: its amounts do not balance`);
  if (available > 0n && debt > 0n) report(`${where}: has something available, and a debt`);
  if (isRemoval(entry) && available + held + spent + lapsed + debt + funded !== 0n)
    report(`${where}: removed, and not empty`);
}

/** Which purses an entry may change: its sub-account's and the account's, or all when a tenant is removed. */
function checkNames(entry: Entry, report: Report) {
  const names = entry.changes.map(({ purse }) => purse);
  if (new Set(names).size !== names.length) report(`${entry.name}: a purse twice`);
  if (isRemoval(entry) && entry.sub_account === "") return;
  const own = ["account", `purse:${entry.sub_account}`];
  for (const name of names) if (!own.includes(name)) report(`${entry.name}: ${name} is not its to change`);
}

/** Which amounts of a purse each kind may change, and which of their sums the entry's own amount is. */
const MOVES: Record<string, { moves: readonly (typeof NAMES)[number][]; amount?: "spent" | "funded" }> = {
  adjust: { moves: ["funded", "debt"], amount: "funded" },
  settle: { moves: ["spent", "debt"], amount: "spent" },
  expire: { moves: ["spent", "debt"], amount: "spent" },
  refund: { moves: ["spent", "debt"], amount: "spent" },
  void: { moves: ["debt"], amount: "spent" },
  token: { moves: [] },
  status: { moves: [] },
  config: { moves: [] },
};

function checkAmount(entry: Entry, report: Report) {
  const { moves, amount } = MOVES[entry.kind] ?? { moves: NAMES };
  if (!isRemoval(entry))
    for (const { purse, by } of entry.changes)
      for (const name of NAMES)
        if (by[name] !== 0n && !moves.includes(name))
          report(`${entry.name}, ${purse}: ${entry.kind} does not change what is ${name}`);
  const moved = amount && sum(entry.changes.map(({ by }) => by[amount]));
  if (moved !== entry.amount)
    report(`${entry.name}: its amount is ${entry.amount}, and what moved is ${moved}`);
  if (entry.kind === "void" && entry.amount !== 0n) report(`${entry.name}: a void that charges`);
  if (entry.kind === "adjust" && entry.changes.length > 1)
    report(`${entry.name}: adjusts more than one purse`);
}

/** What comes into a purse pays its debt first; only an end that charges makes a new one. */
export function checkDebt(entry: Entry, purse: string, inflow: bigint, made: bigint, report: Report) {
  const change = entry.changes.find((one) => one.purse === purse);
  const by = change?.by.debt ?? 0n;
  const before = change ? change.after.debt - by : 0n;
  const expected = made - (inflow > 0n ? least(inflow, before) : 0n);
  if (change && by !== expected)
    report(`${entry.name}, ${purse}: its debt changes by ${by}, not by ${expected}`);
}

/** The amounts of every purse that the journal knows, as its last entry leaves them. */
export function followBalances(entries: Entry[], report: Report): Map<string, Balance> {
  const balances = new Map<string, Balance>();
  for (const entry of entries) {
    checkNames(entry, report);
    checkAmount(entry, report);
    for (const change of entry.changes) {
      checkChange(entry, change, balances.get(change.purse) ?? NOTHING, report);
      if (entry.kind === "adjust") checkDebt(entry, change.purse, entry.amount ?? 0n, 0n, report);
      balances.set(change.purse, change.after);
    }
  }
  return balances;
}

/** What the journal says is what the purse has; a purse that is gone has nothing. */
export function checkBalance(where: string, journal: Balance = NOTHING, now: Balance, report: Report) {
  for (const name of NAMES)
    if (journal[name] !== now[name])
      report(`${where}: ${name} is ${now[name]}, and ${journal[name]} by its journal`);
}
