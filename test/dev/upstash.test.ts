// What the Worker asks of Redis through the official client arrives and comes back unchanged.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(() => rig.client.flushdb());

const MAX = Number.MAX_SAFE_INTEGER;
const TRICKY = [
  "1e5",
  "007",
  "123",
  "12345678901234567890",
  "true",
  "null",
  "0.5",
  "",
  "OK",
  "é€😀",
  '{"a":1}',
  " ",
];

test("strings stay strings, whatever they look like", async () => {
  for (const value of TRICKY) {
    await rig.client.set("key", value);
    expect(await rig.client.get("key")).toBe(value);
    await rig.client.hset("hash", { [`f${value}`]: value });
    expect(await rig.client.hget("hash", `f${value}`)).toBe(value);
    expect(await rig.client.eval("return {ARGV[1], {ARGV[1], {ARGV[1]}}}", [], [value])).toEqual([
      value,
      [value, [value]],
    ]);
  }
});

test("SET with NX, GET, PXAT; GET, PTTL, EXISTS, DEL", async () => {
  const { client } = rig;
  expect(await client.get("lock")).toBeNull();
  expect(await client.set("lock", "a", { nx: true, pxat: Date.now() + 60_000 })).toBe("OK");
  expect(await client.set("lock", "b", { nx: true })).toBeNull();
  expect(await client.set("lock", "b", { xx: true, get: true, keepTtl: true })).toBe("a");
  expect(await client.pttl("lock")).toBeGreaterThan(59_000);
  expect(await client.exists("lock", "none")).toBe(1);
  expect(await client.del("lock", "none")).toBe(1);
  expect(await client.pttl("lock")).toBe(-2);
});

// Without deserialisation the client also leaves lists flat: what its types call an object is an array.
test("hashes", async () => {
  const { client } = rig;
  expect(await client.hset("h", { a: "1", b: "2" })).toBe(2);
  expect(await client.hgetall("h")).toEqual(["a", "1", "b", "2"]);
  expect(await client.hgetall("none")).toEqual([]);
  expect(await client.hget("h", "c")).toBeNull();
  expect(await client.hmget("h", "a", "c")).toEqual(["1", null]);
  expect(await client.hrandfield("h", 5, true)).toEqual(expect.arrayContaining(["a", "1", "b", "2"]));
  expect(await client.hscan("h", "0", { match: "a*", count: 100 })).toEqual(["0", ["a", "1"]]);
});

test("sorted sets", async () => {
  const { client } = rig;
  expect(
    await client.zadd("z", { score: 1_796_000_000_001, member: "c 1 l" }, { score: 5, member: "c 2 l" }),
  ).toBe(2);
  expect(await client.zrange("z", 0, 10, { byScore: true, offset: 0, count: 1 })).toEqual(["c 2 l"]);
  expect(await client.zrange("z", 0, -1, { withScores: true })).toEqual([
    "c 2 l",
    "5",
    "c 1 l",
    "1796000000001",
  ]);
  expect(await client.zscore("z", "c 1 l")).toBe("1796000000001");
  expect(await client.zscore("z", "none")).toBeNull();
  expect(await client.zrem("z", "c 1 l", "none")).toBe(1);
});

test("streams", async () => {
  const { client } = rig;
  expect(await client.xadd("s", "1-1", { kind: "settle", amount: String(MAX) })).toBe("1-1");
  await client.xadd("s", "2-1", { kind: "void" });
  expect(await client.xrange("s", "-", "+", 1)).toEqual([["1-1", ["kind", "settle", "amount", String(MAX)]]]);
  expect(await client.xtrim("s", { strategy: "MINID", exactness: "=", threshold: "2-0" })).toBe(1);
});

test("PING and TIME", async () => {
  expect(await rig.client.ping()).toBe("PONG");
  const [seconds] = await rig.client.time();
  expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(60);
});

test("scripts: EVAL, SCRIPT LOAD, EXISTS, EVALSHA, FLUSH", async () => {
  const { client } = rig;
  const text = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
  expect(await client.eval(text, ["n"], ["2"])).toBe(2);
  const sha = await client.scriptLoad(text);
  expect(await client.scriptExists(sha, "0".repeat(40))).toEqual([1, 0]);
  expect(await client.evalsha(sha, ["n"], ["3"])).toBe(5);
  await client.scriptFlush();
  expect(await client.scriptExists(sha)).toEqual([0]);
  await expect(client.evalsha(sha, ["n"], ["3"])).rejects.toThrow(
    /^NOSCRIPT No matching script\. Please use EVAL\./,
  );
});

test("integers are exact to 2^53-1, on every path", async () => {
  const { client } = rig;
  await client.set("n", String(MAX - 1));
  expect(await client.incr("n")).toBe(MAX);
  expect(await client.decrby("n", 2 * MAX)).toBe(-MAX);
  const script = "return {9007199254740991, {-9007199254740991, redis.call('GET', KEYS[1])}}";
  expect(await client.eval(script, ["n"], [])).toEqual([MAX, [-MAX, String(-MAX)]]);
});

test("nil, false, true, fractions and errors of a script arrive as RESP2 gives them", async () => {
  const { client } = rig;
  expect(await client.eval("return {1, nil, 3}", [], [])).toEqual([1]);
  expect(await client.eval("return {false, true, 3.99, 'x', {}}", [], [])).toEqual([null, 1, 3, "x", []]);
  expect(await client.eval("return false", [], [])).toBeNull();
  await expect(client.eval("return redis.error_reply('WRONG thing')", [], [])).rejects.toThrow(
    /^WRONG thing/,
  );
});

test("a pipeline goes on after an error, and gives each its own", async () => {
  const { client } = rig;
  const results = await client
    .pipeline()
    .set("k", "v")
    .incr("k")
    .get("k")
    .eval("return {KEYS[1], 'OK'}", ["k"], [])
    .exec({ keepErrors: true });
  expect(results.map(({ result, error }) => error ?? result)).toEqual([
    "OK",
    "ERR value is not an integer or out of range",
    "v",
    ["k", "OK"],
  ]);
});

test("a transaction gives each its own result, and is discarded whole when a command cannot be queued", async () => {
  const { client } = rig;
  expect(await client.multi().set("k", "1").incr("k").get("k").exec()).toEqual(["OK", 2, "2"]);
  expect(await client.multi().set("k", "x").incr("k").exec({ keepErrors: true })).toMatchObject([
    { result: "OK" },
    { error: "ERR value is not an integer or out of range" },
  ]);
  const broken = client.multi().set("k", "lost");
  await expect(broken.exists(...([] as unknown as [string])).exec()).rejects.toThrow(
    /wrong number of arguments/,
  );
  expect(await client.get("k")).toBe("x");
});
