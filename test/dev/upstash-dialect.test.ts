// The key-locking dialect: production scripts and hashes run as they are, undeclared keys are refused, tests set the time.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startUpstash } from "../../dev/upstash/server.ts";
import { connect, post, type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.client.flushall();
  await rig.client.scriptFlush();
});

const FLAG = "#!lua flags=allow-key-locking\n";
const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const NOSCRIPT = "NOSCRIPT No matching script. Please use EVAL.";
const NOW = `${FLAG}local t = redis.call("TIME")
return string.format("%.0f", t[1] * 1000 + math.floor(t[2] / 1000))`;

test("the hash of the text as sent works in EVALSHA, SCRIPT EXISTS and SCRIPT LOAD", async () => {
  const { client } = rig;
  const text = `${FLAG}return redis.call("INCR", KEYS[1])`;
  await expect(client.evalsha(sha1(text), ["n"], [])).rejects.toThrow(NOSCRIPT);
  expect(await client.eval(text, ["n"], [])).toBe(1);
  expect(await client.evalsha(sha1(text), ["n"], [])).toBe(2);
  await client.scriptFlush();
  expect(await client.scriptExists(sha1(text))).toEqual([0]);
  await expect(client.evalsha(sha1(text), ["n"], [])).rejects.toThrow(NOSCRIPT);
  expect(await client.scriptLoad(text)).toBe(sha1(text));
  expect(await client.scriptExists(sha1(text), sha1("other"))).toEqual([1, 0]);
  expect(await client.evalsha(sha1(text).toUpperCase(), ["n"], [])).toBe(3);
  await rig.redis.restart();
  expect(await client.scriptExists(sha1(text))).toEqual([0]);
  await expect(client.evalsha(sha1(text), ["n"], [])).rejects.toThrow(NOSCRIPT);
});

test("so it does in pipelines and transactions, and for the read-only verbs", async () => {
  const text = `${FLAG}return redis.call("GET", KEYS[1])`;
  await rig.client.set("k", "v");
  const commands = [
    ["SCRIPT", "LOAD", text],
    ["SCRIPT", "EXISTS", sha1(text)],
    ["EVAL_RO", text, 1, "k"],
    ["EVALSHA_RO", sha1(text), 1, "k"],
    ["evalsha", sha1(text), 1, "k"],
  ];
  const expected = [sha1(text), [1], "v", "v", "v"].map((result) => ({ result }));
  expect((await rig.rest("/pipeline", post(commands))).json).toEqual(expected);
  await rig.client.scriptFlush();
  expect((await rig.rest("/multi-exec", post(commands))).json).toEqual(expected);
  expect(
    (
      await rig.rest(
        "/pipeline",
        post([
          ["SCRIPT", "FLUSH"],
          ["EVALSHA", sha1(text), 1, "k"],
        ]),
      )
    ).json,
  ).toEqual([{ result: "OK" }, { error: NOSCRIPT }]);
});

test("other flags stay: a script that promised no writes may not write", async () => {
  const text = "#!lua flags=no-writes,allow-key-locking\nreturn redis.call('SET', KEYS[1], 'x')";
  await expect(rig.client.eval(text, ["k"], [])).rejects.toThrow(
    /Write commands are not allowed from read-only scripts/,
  );
});

test("a script without the flag runs as stock Redis runs it", async () => {
  const text = "return redis.call('SET', 'undeclared', ARGV[1])";
  expect(await rig.client.eval(text, [], ["x"])).toBe("OK");
  await expect(rig.client.eval("#!lua flags=unheard-of\nreturn 1", [], [])).rejects.toThrow(
    /Unexpected flag/,
  );
});

test("errors keep the line numbers of the script", async () => {
  await expect(rig.client.eval(`${FLAG}local a\n\nreturn a.b`, [], [])).rejects.toThrow(/user_script:4: /);
  await expect(rig.client.eval(`${FLAG}\nthis is not lua`, [], [])).rejects.toThrow(/user_script:3: /);
});

describe("a key that is not in KEYS", () => {
  const refused = (key: string) =>
    `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${key}`;

  test.each([
    ["GET, 'no'", "no"],
    ["get, 'no'", "no"],
    ["MGET, KEYS[1], 'no'", "no"],
    ["DEL, KEYS[1], KEYS[2], 'no'", "no"],
    ["MSET, KEYS[1], 1, 'no', 1", "no"],
    ["ZUNIONSTORE, KEYS[1], 2, KEYS[2], 'no'", "no"],
    ["ZRANGESTORE, 'no', KEYS[1], 0, -1", "no"],
    ["XREAD, STREAMS, KEYS[1], 'no', 0, 0", "no"],
    ["OBJECT, ENCODING, 'no'", "no"],
    ["SET, KEYS[1] .. 'x', 1", "ax"],
    ["SET, '', 1", ""],
  ])("is refused, and nothing is done: %s", async (args, key) => {
    const call = args.replace(/\b([A-Za-z]{3,})\b(?![[\]'])/g, (word) =>
      word === "KEYS" ? word : `'${word}'`,
    );
    for (const verb of ["call", "pcall"]) {
      const text = `${FLAG}redis.call('SET', KEYS[1], 'kept') redis.${verb}(${call}) return 1`;
      await expect(rig.client.eval(text, ["a", "b"], [])).rejects.toThrow(refused(key));
    }
    expect(await rig.client.mget("a", "no", "ax", "")).toEqual(["kept", null, null, null]);
  });

  test("is no argument that merely looks like one", async () => {
    const text = `${FLAG}
redis.call("HSET", KEYS[1], "field", "value")
redis.call("ZADD", KEYS[2], 1, "member")
redis.call("XADD", KEYS[3], "1-1", "field", "value")
redis.call("SET", KEYS[4], "value", "PXAT", "99999999999999")
redis.call("PING")
return redis.call("HMGET", KEYS[1], "field", "none")`;
    expect(await rig.client.eval(text, ["h", "z", "s", "k"], [])).toEqual(["value", null]);
  });

  test("is every key for FLUSHALL and FLUSHDB", async () => {
    await rig.client.set("k", "v");
    for (const verb of ["FLUSHALL", "flushdb"]) {
      await expect(rig.client.eval(`${FLAG}redis.call("${verb}")`, ["k"], [])).rejects.toThrow(
        /is not allowed/,
      );
    }
    expect(await rig.client.get("k")).toBe("v");
  });
});

describe("time", () => {
  test("is the real one until a test sets it, and again when the test is done", async () => {
    const { client } = rig;
    const before = Date.now();
    expect(Number(await client.eval(NOW, [], []))).toBeGreaterThanOrEqual(before - 5);
    for (const now of ["1796000000001", "0", "4102444800999"]) {
      await client.set("test:now_ms", now);
      expect(await client.eval(NOW, [], [])).toBe(now);
      expect(await client.evalsha(sha1(NOW), [], [])).toBe(now);
    }
    await client.del("test:now_ms");
    expect(Number(await client.eval(NOW, [], []))).toBeGreaterThanOrEqual(before - 5);
  });

  test("is not moved for a script without the flag", async () => {
    await rig.client.set("test:now_ms", "5");
    expect(Number(await rig.client.eval(NOW.slice(FLAG.length), [], []))).toBeGreaterThan(1e12);
  });
});

test("without the guard the flag is still stripped and the hash known, but any key passes", async () => {
  const double = await startUpstash({ redisPort: rig.redis.port, guard: false });
  const client = connect(double.url, double.token);
  const text = `${FLAG}return redis.call("SET", "undeclared", "x")`;
  expect(await client.eval(text, [], [])).toBe("OK");
  expect(await client.evalsha(sha1(text), [], [])).toBe("OK");
  await double.stop();
});
