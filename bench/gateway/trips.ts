// Round trips and commands of one call, told apart by MONITOR: what clients send, and what scripts call.
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "../lib/benchmark.ts";
import { type Database, spentIn } from "../lib/redis.ts";
import { SENT, type Subject } from "../lib/sample.ts";
import type { Cell } from "../lib/table.ts";
import { inParallel } from "../lib/timing.ts";
import { type Kind, measure } from "./load.ts";
import type { Place } from "./place.ts";
import { callSubject, RENEWALS, stackSubject } from "./subjects.ts";

/** Of the design, of an admitted call: admit and finish, each one round trip. */
const BOUND = { trips: 2, commands: 9 + 10 };
const MARK = "end of the calls";

interface Wire {
  readonly scripts: number;
  /** Reads of what an isolate knows for a while: pools, prices, callers. */
  readonly reads: number;
  readonly inside: number;
  readonly server_us: number;
}

/** What Redis sees of `work`. */
async function wireOf(
  { main }: Database,
  sent: readonly string[],
  work: () => Promise<unknown>,
  /** Before each of the two times that it is looked at. */
  prepare: () => Promise<unknown> = async () => {},
): Promise<Wire> {
  await prepare();
  const { server_us } = await spentIn(main, sent, work);
  await prepare();
  const monitor = await main.monitor();
  const seen = { scripts: 0, reads: 0, inside: 0 };
  const whole = new Promise<void>((resolve) => {
    monitor.on("monitor", (_: string, [name = "", text = ""]: string[], source: string) => {
      if (text === MARK) return resolve();
      if (source === "lua") seen.inside++;
      else if (sent.includes(name.toLowerCase())) seen.scripts++;
      else seen.reads++;
    });
  });
  await work();
  await main.echo(MARK);
  await whole;
  monitor.disconnect();
  return { ...seen, server_us };
}

const ofSubject = (db: Database, subject: Subject, count: number) => () =>
  wireOf(
    db,
    subject.sent ?? SENT,
    async () => {
      await inParallel(count, 1, subject.take);
      await inParallel(count, 1, subject.give);
    },
    async () => subject.prepare(count),
  );

const ofGateway =
  (db: Database, { ways, idle }: Place, kind: Kind, count: number) =>
  async () => {
    await measure(ways.ours, kind, 1, 20); // a warm isolate
    await idle();
    await sleep(200);
    return wireOf(db, SENT, async () => {
      await measure(ways.ours, kind, 1, count);
      for (let left = 3; left > 0; left--) await sleep(100); // an end comes after the reply
    });
  };

/** Resolves with the bounds that are broken. */
export async function trips(db: Database, place: Place, options: Options): Promise<string[]> {
  const count = options.quick ? 100 : 400;
  const subject = (one: Subject) => ({ name: one.name, bound: undefined, wire: ofSubject(db, one, count) });
  const gateway = (kind: Kind) => ({
    name: `through the Worker, a ${kind}`,
    bound: BOUND,
    wire: ofGateway(db, place, kind, count),
  });
  const cases = [
    subject(stackSubject(db, "the stack")),
    gateway("completion"),
    gateway("stream"),
    subject(stackSubject(db, "60 s: the stack, its semaphore refreshed", RENEWALS)),
    subject(await callSubject(db, "60 s: admit + renew + finish", { renewals: RENEWALS })),
  ];
  const broken: string[] = [];
  const rows: Cell[][] = [];
  for (const { name, bound, wire } of cases) {
    options.progress(`round trips: ${name}`);
    const { scripts, reads, inside, server_us } = await wire();
    const [trips_each, inside_each] = [scripts / count, inside / count];
    const ok = !bound || (trips_each <= bound.trips && inside_each <= bound.commands);
    if (!ok) broken.push(`${name}: ${trips_each} round trips with ${inside_each} commands in scripts`);
    const verdict = bound ? (ok ? "ok" : "BROKEN") : "";
    rows.push([
      name,
      trips_each,
      reads / count,
      inside_each,
      (scripts + reads + inside) / count,
      server_us / count,
      verdict,
    ]);
  }
  options.show({
    title: "Round trips and commands of one call",
    columns: ["", "round trips", "other reads", "in scripts", "commands", "server, µs", ""],
    rows,
    notes: [
      `${count} calls one after the other; MONITOR tells what was sent from what a script called, INFO commandstats says the time`,
      "other reads: what an isolate reads anew every few seconds, however many calls there are",
      `bound: ${BOUND.trips} round trips, ${BOUND.commands} commands in scripts (admit 9, finish 10)`,
    ],
  });
  return broken;
}
