// What each script touches is what it declares: Upstash locks those keys and no others.
import { expect, test } from "vitest";
import { defaultsOf } from "../../src/pools/settings.ts";
import { create } from "../../src/scripts/cell/create.ts";
import { probe } from "../../src/scripts/cell/probe.ts";
import { scripts } from "../../src/scripts/index.ts";
import { run } from "../../src/scripts/run.ts";
import { leaseKit } from "../support/lease.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, granted } = leaseKit(redis);

/** Every verb by the name of its script, along paths on which it writes all that it may. */
const VERBS: [name: string, run: () => Promise<unknown>][] = [
  [
    "cell/create",
    () => run(redis.store(), create, { meta_key: keys.meta() }, { cell: "test", shards: 16, op_id: "" }),
  ],
  ["cell/probe", () => run(redis.store(), probe, keys.probe(), { full: true })],
  ["pool/put", () => pool.put("c1", 2)],
  ["pool/put", () => pool.put("c2", 1)],
  ["pool/patch", () => pool.patch("c1", "{}", { fingerprint: "new", sealed: "k1.new" })],
  ["pool/configure", () => pool.configure({ ...defaultsOf("default"), lease_seconds: 5 })],
  ["lease/allocate", () => granted("l1", ["c1"])],
  ["lease/allocate", () => granted("l1", ["c1"])],
  ["lease/allocate", () => granted("l2", ["c1"])],
  ["lease/renew", () => pool.renew("l1", "c1")],
  ["lease/release", () => pool.release("l1", "c1", "upstream_error")],
  ["lease/undo", () => pool.undo("l2", true)],
  ["pool/mark", () => pool.mark("c1", "available")],
  ["pool/revoke", () => pool.revoke("c1")],
  ["pool/remove", () => pool.remove("c2")],
];

test("case D40: touched and declared are equal, and all keys of a call carry the cell's tag", async () => {
  const monitor = await redis.raw.monitor();
  const declared = new Map<string, Set<string>>();
  const touched = new Map<string, Set<string>>();
  let running = "";
  const note = (all: Map<string, Set<string>>, key: string) =>
    all.set(running, (all.get(running) ?? new Set()).add(key));
  monitor.on("monitor", (_time: string, [command = "", ...args]: string[], source: string) => {
    if (command.toLowerCase() === "echo") running = args[0] ?? "";
    if (source === "lua" && args[0]?.startsWith("{test}:")) note(touched, args[0]);
    if (/^eval/i.test(command)) for (const key of args.slice(2, 2 + Number(args[1]))) note(declared, key);
  });
  for (const [name, verb] of VERBS) {
    await redis.raw.echo(name); // the monitor sees whose calls follow
    await verb();
  }
  await redis.raw.echo("end");
  await expect.poll(() => running).toBe("end");
  monitor.disconnect();
  for (const { name } of scripts) {
    const of = (all: Map<string, Set<string>>) => [...(all.get(name) ?? [])].sort();
    expect(of(declared).length, name).toBeGreaterThan(0);
    expect(of(touched), name).toEqual(of(declared));
    for (const key of of(declared)) expect(key).toMatch(/^\{test\}:/);
  }
});
