// What each script touches is what it declares: Upstash locks those keys and no others.
import { expect, test } from "vitest";
import { defaultsOf } from "../../src/pools/settings.ts";
import { putEntry } from "../../src/scripts/catalog/put.ts";
import { removeEntry } from "../../src/scripts/catalog/remove.ts";
import { create } from "../../src/scripts/cell/create.ts";
import { probe } from "../../src/scripts/cell/probe.ts";
import { scripts } from "../../src/scripts/index.ts";
import { freeLock } from "../../src/scripts/lock/free.ts";
import { takeLock } from "../../src/scripts/lock/take.ts";
import { run } from "../../src/scripts/run.ts";
import { callsOf } from "../support/call.ts";
import { leaseKit } from "../support/lease.ts";
import { ledgerOf } from "../support/ledger.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, granted } = leaseKit(redis);
const ledger = ledgerOf(() => redis.store());
const calls = callsOf(() => redis.store());

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
  ["pool/verify", () => pool.verify("c2", "available", false)],
  ["pool/revoke", () => pool.revoke("c1")],
  ["pool/remove", () => pool.remove("c2")],
  ["lease/allocate", () => granted("l3", ["c1"], 1)],
  ["pool/reclaim", () => redis.later(10).then(pool.reclaim)],
  [
    "catalog/put",
    () => run(redis.store(), putEntry, keys.catalog(), { field: "model:m", value: "{}", note: "{}" }),
  ],
  ["catalog/remove", () => run(redis.store(), removeEntry, keys.catalog(), { field: "model:m", note: "{}" })],
  [
    "lock/take",
    () => run(redis.store(), takeLock, { lock_key: keys.lock("work") }, { owner: "o", for_ms: 10_000 }),
  ],
  ["lock/free", () => run(redis.store(), freeLock, { lock_key: keys.lock("work") }, { owner: "o" })],
  ["tenant/put", () => ledger.put()],
  ["tenant/put_sub", () => ledger.putSub("alice")],
  ["tenant/add_token", () => ledger.addToken("alice", "tok_1", "sha")],
  ["quota/adjust", () => ledger.adjust("alice", "op-1", "grant", 100)],
  ["quota/adjust", () => ledger.adjust("alice", "op-1", "grant", 100)],
  ["quota/reserve", () => ledger.reserve("alice", "h1", 1, { home: pool.home, pool_key: pool.pool_key })],
  ["quota/reserve", () => ledger.reserve("alice", "h2", 1, { ttl_ms: 1 })],
  ["quota/reserve", () => ledger.reserve("alice", "h3", 1)],
  ["quota/extend", () => ledger.extend("h1", 1000, 2, 1)],
  ["quota/settle", () => ledger.settle("h1", 2)],
  ["quota/refund", () => ledger.refund("h1", "r1", 1)],
  ["quota/expire", () => redis.later(10).then(() => ledger.expire("h2"))],
  ["quota/void", () => ledger.void("h3")],
  ["call/admit", () => calls.admit("alice", "k1", 10, ["c1"])],
  ["call/admit", () => calls.admit("alice", "k2", 10, ["c1"])],
  ["call/renew", () => calls.renew("k1", "c1", 1000, 20, 5)],
  ["call/finish", () => calls.finish("k1", "c1", 7, "upstream_error")],
  ["quota/reserve", () => ledger.reserve("alice", "owing", 0)],
  ["quota/settle", () => ledger.settle("owing", 500)],
  ["call/undo", () => calls.undo("k2", "rate_limited")],
  ["tenant/revoke_token", () => ledger.revokeToken("alice", "tok_1")],
  ["tenant/remove_sub", () => ledger.removeSub("alice")],
  ["tenant/remove", () => ledger.remove()],
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
