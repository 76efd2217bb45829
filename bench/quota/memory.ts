// What sub-accounts and holds take of the database's memory.
import type { Options } from "../lib/benchmark.ts";
import { type Database, evaluatorOn, infoOf } from "../lib/redis.ts";
import { inParallel } from "../lib/timing.ts";
import { expecting, ledgerOf, newCell, newHoldId, newOpId, PLENTY, subsOf } from "./ledger.ts";

const WIDTH = 16; // buffers of calls under way count as memory too

export async function memory({ main }: Database, { quick, progress, show }: Options) {
  const count = quick ? 2_000 : 10_000;
  progress(`memory of ${count} sub-accounts and holds`);
  await main.flushall("SYNC");
  const ledger = ledgerOf(evaluatorOn(main), newCell());
  const { journal_key } = ledger;
  const subs = subsOf(count);
  const holds = subs.map(newHoldId);
  const [first = ""] = holds;

  const usedNow = async () => Number(await infoOf(main, "memory", "used_memory"));
  const usedAfter = async (call: (i: number) => Promise<unknown>) => {
    await inParallel(count, WIDTH, call);
    return usedNow();
  };
  /** Every script is loaded and every key is there, whatever is measured first. */
  await ledger.put();
  await ledger.putSub("first");
  await ledger.adjust("", newOpId(), PLENTY);
  await expecting("reserved", ledger.reserve("first", "first"));
  await expecting("settled", ledger.settle("first"));
  await expecting("reserved", ledger.reserve("first", "stays"));
  await main.del(journal_key);

  const empty = await usedNow();
  const filled = await usedAfter((i) => ledger.putSub(subs[i] ?? ""));
  await main.del(journal_key);
  const bare = await usedNow();
  const open = await usedAfter((i) => ledger.reserve(subs[i] ?? "", holds[i] ?? ""));
  const ended = await usedAfter((i) => ledger.settle(holds[i] ?? ""));
  const entries = await main.xlen(journal_key);
  if (entries !== count || (await main.zcard(ledger.due_key)) !== 1)
    throw new Error("not every hold has ended");
  await main.del(journal_key);
  const records = await usedNow();
  const text = Number(await main.strlen(ledger.holdKey(first)));
  const rows: [string, number][] = [
    ["a sub-account", (bare - empty) / count],
    ["the journal entry that made it", (filled - bare) / count],
    ["an open hold", (open - bare) / count],
    ["an ended hold: its record", (records - bare) / count],
    ["an ended hold: its journal entry", (ended - records) / count],
  ];
  show({
    title: "Memory of Redis",
    columns: ["", "bytes each"],
    rows,
    notes: [
      `used_memory of ${count.toLocaleString("en-US")} of each; ids of 18 and 28 characters, one model, metadata of 44; the record's text has ${text}`,
      "a record lasts as long as a late end may come, an entry until it is archived; an open hold is its record and its deadline",
    ],
  });
}
