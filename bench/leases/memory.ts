// What a credential and a lease take of the database's memory.
import type { Options } from "../lib/benchmark.ts";
import { granted, idsOf, newLeaseId, poolOf } from "../lib/pool.ts";
import { type Database, evaluatorOn, infoOf } from "../lib/redis.ts";
import { inParallel } from "../lib/timing.ts";

const WIDTH = 16; // buffers of calls under way count as memory too

export async function memory({ main }: Database, { quick, progress, show }: Options) {
  const count = quick ? 2_000 : 5_000;
  progress(`memory of ${count} credentials and leases`);
  await main.flushall("SYNC");
  const pool = poolOf(evaluatorOn(main), "memory");
  const ids = idsOf(count);
  const leases = ids.map(newLeaseId);

  const bytesAfter = async (call: (i: number) => Promise<unknown>) => {
    await inParallel(count, WIDTH, call);
    return Number(await infoOf(main, "memory", "used_memory"));
  };
  await pool.put("first", 1);
  await pool.release("of-nobody", "first");
  const empty = Number(await infoOf(main, "memory", "used_memory"));
  const filled = await bytesAfter((i) => pool.put(ids[i] ?? "", 1));
  const live = await bytesAfter((i) => granted(pool, leases[i] ?? "", [ids[i] ?? ""]));
  const ended = await bytesAfter((i) => pool.release(leases[i] ?? "", ids[i] ?? ""));
  show({
    title: "Memory of Redis",
    columns: ["", "bytes each"],
    rows: [
      ["a credential", (filled - empty) / count],
      ["a live lease", (live - filled) / count],
      ["an ended lease, kept for its late reports", (ended - filled) / count],
    ],
    notes: [
      `used_memory of ${count.toLocaleString("en-US")} of each; ids of 22 and 28 characters, a secret of 120, a configuration of some 130`,
    ],
  });
}
