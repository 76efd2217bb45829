// Changes once by their op_id: each remembered answer is that of an entry, and none was made twice.
import type { Entry, Journal } from "./entries.ts";
import type { Cell, Key } from "./keys.ts";
import { groupBy, type Report } from "./words.ts";

/** The answer of an adjust is what its entry says: by how much, then what is available and owed. */
function checkAnswer(key: Key<"string">, entries: Entry[], report: Report) {
  const match = /^1 \S+ (-?\d+) (\d+) (\d+)$/.exec(key.value);
  if (!match) return report(`${key.name}: an answer that cannot be read`);
  const entry = entries.at(-1);
  if (!entry) return report(`${key.name}: done, and no entry says so`);
  const [by = "", available = "", debt = ""] = match.slice(1);
  const [change] = entry.changes;
  const told = BigInt(by) === entry.amount;
  const left = !change || (BigInt(available) === change.available && BigInt(debt) === change.after.debt);
  if (!told || !left)
    report(`${key.name}: answered ${by} ${available} ${debt}, and ${entry.name} says otherwise`);
}

interface Times {
  now_ms: bigint | undefined;
  /** For how long an op's answer is kept, at least: until then its id makes nothing new. */
  op_keep_ms: bigint;
}

export function checkOps(cell: Cell, journal: Journal, { now_ms, op_keep_ms }: Times, report: Report) {
  const adjusts = [...journal.values()].flat().filter(({ kind }) => kind === "adjust");
  const byOp = groupBy(adjusts, ({ aggregate, op }) => `${aggregate.replace("tenant:", "op:")}:${op}`);
  const known = new Set(cell.op.map(({ name }) => name));
  for (const key of cell.op) checkAnswer(key, byOp.get(key.name) ?? [], report);
  for (const [name, entries] of byOp) {
    entries.forEach((entry, i) => {
      const before = entries[i - 1];
      if (before && entry.at < before.at + op_keep_ms)
        report(`${name}: done twice, ${before.name} and ${entry.name}`);
    });
    const last = entries.at(-1)?.at;
    if (now_ms !== undefined && last !== undefined && last + op_keep_ms > now_ms && !known.has(name))
      report(`${name}: its answer has gone too early`);
  }
}
