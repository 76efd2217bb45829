// The catalog: it counts its entries and its changes, and each of them is in the journal.
import { checkLast, type Journal } from "./entries.ts";
import type { Cell } from "./keys.ts";
import { numbersOf, type Report } from "./words.ts";

export function checkCatalog(cell: Cell, journal: Journal, report: Report) {
  const [catalog] = cell.catalog;
  if (!catalog) return;
  const own = numbersOf(catalog.value.get("@catalog"), ["seq", "entries"]);
  if (!own) return report("catalog @catalog: cannot be read");
  checkLast("catalog", own.seq, journal.get("catalog") ?? [], report);
  const fields = [...catalog.value.keys()].filter((field) => field !== "@catalog");
  if (own.entries !== BigInt(fields.length))
    report(`catalog: it counts ${own.entries} entries, and has ${fields.length}`);
  for (const field of fields)
    if (!/^(price:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/.|model:.)/s.test(field))
      report(`catalog ${field}: a field that is not known`);
}
