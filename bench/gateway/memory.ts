// What open streams take of the memory of who carries them: streams that the upstream lets hang after their first events.
import { execFileSync } from "node:child_process";
import { Agent, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "../lib/benchmark.ts";
import type { Cell } from "../lib/table.ts";
import { inParallel } from "../lib/timing.ts";
import { ask, bodyOf, measure } from "./load.ts";
import type { Place, Way } from "./place.ts";

const WIDTH = 32;
const SETTLE_MS = 1_500;

const rss_kb = (pid: number) =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));

/** Until the first bytes of a stream are there; then it is left as it is. */
async function opened(way: Way, agent: Agent, body: string): Promise<IncomingMessage> {
  const reply = await ask(way, agent, body);
  reply.on("error", () => {}); // it is torn in the end
  await new Promise((resolve) => reply.once("data", resolve));
  return reply;
}

/** KiB that so many open streams add to a process that is warm. */
async function growthOf({ upstream, idle }: Place, way: Way, streams: number): Promise<number> {
  if (!way.start) return 0;
  const server = await way.start();
  try {
    const here = { ...way, url: server.url };
    await measure(here, "stream", WIDTH, streams); // its heap has its usual size then
    await idle();
    await upstream.behave({ kind: "stall", after: 3 });
    await sleep(SETTLE_MS);
    const before = rss_kb(server.pid);
    const agent = new Agent({ maxSockets: streams });
    const replies: IncomingMessage[] = [];
    await inParallel(streams, WIDTH, async () => {
      replies.push(await opened(here, agent, bodyOf(here, "stream")));
    });
    await sleep(SETTLE_MS);
    const grown = rss_kb(server.pid) - before;
    for (const reply of replies) reply.destroy();
    await upstream.reset(); // a socket that is closed, and not reset, is noticed at the next write only
    await idle();
    agent.destroy();
    return grown;
  } finally {
    await upstream.reset();
    await server.stop();
  }
}

export async function memory(place: Place, { quick, runs, progress, show }: Options) {
  const streams = quick ? 200 : 1_000;
  const rounds = Math.min(runs, quick ? 1 : 3);
  const { ours, passing, theirs } = place.ways;
  const rows: Cell[][] = [];
  for (const way of [passing, ...(theirs ? [theirs] : []), ours]) {
    const grown: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      progress(`memory of ${streams} streams, ${way.name}, round ${round} of ${rounds}`);
      grown.push(await growthOf(place, way, streams));
    }
    const least = Math.min(...grown);
    rows.push([way.name, least / streams, (least / 1024) * (1_000 / streams)]);
  }
  const mib = Number(rows.at(-1)?.[2]);
  const withRatio = rows.map((row): Cell[] => [...row, Number(row[2]) === mib ? "" : mib / Number(row[2])]);
  show({
    title: "Memory of open streams",
    columns: ["", "KiB a stream", "MiB per 1,000", "the gateway x it"],
    rows: withRatio,
    notes: [
      `what ${streams.toLocaleString("en-US")} streams that hang add to the process's resident memory, once it has carried as many; the least of ${rounds}`,
    ],
  });
}
