// The REST surface as its documents describe it: statuses, path form, base64, bounds.
import { afterAll, beforeAll, expect, test } from "vitest";
import { post, type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ token: "secret" });
});
afterAll(() => rig.stop());

test("401 without the token; the token may stand in the query", async () => {
  const wrong = { status: 401, json: { error: "WRONGPASS invalid or missing auth token" } };
  for (const authorization of ["", "Bearer", "Bearer wrong", "Basic secret"]) {
    expect(await rig.rest("/", post(["PING"], { authorization }))).toMatchObject(wrong);
    expect(await rig.rest("/pipeline", post([["PING"]], { authorization }))).toMatchObject(wrong);
  }
  expect(await rig.rest("/ping?_token=secret", { headers: { authorization: "" } })).toMatchObject({
    status: 200,
  });
});

test("400 for a command that fails, and for what is no command", async () => {
  const failed = await rig.rest("/", post(["GET"]));
  expect(failed).toMatchObject({
    status: 400,
    json: { error: "ERR wrong number of arguments for 'get' command" },
  });
  for (const body of ["", "{", "[]", "{}", "null", '"PING"', "[null]", '[["PING"]]', '["SET","k",{}]']) {
    expect(await rig.rest("/", post(body))).toMatchObject({
      status: 400,
      json: { error: expect.any(String) },
    });
  }
  for (const path of ["/", "/get/%zz", "//"]) expect(await rig.rest(path)).toMatchObject({ status: 400 });
  for (const body of ["", "{}", '["PING"]', '[["PING"],[]]']) {
    expect(await rig.rest("/pipeline", post(body))).toMatchObject({ status: 400 });
    expect(await rig.rest("/multi-exec", post(body))).toMatchObject({ status: 400 });
  }
});

test("405 for other methods", async () => {
  for (const method of ["DELETE", "PATCH", "OPTIONS"]) {
    expect(await rig.rest("/get/foo", { method })).toMatchObject({ status: 405 });
  }
  expect(await rig.rest("/get/foo", { method: "HEAD" })).toMatchObject({ status: 200, json: "" });
});

test("413 above 10 MB, and just below it passes", async () => {
  const size = 10 * 1024 * 1024;
  const command = (length: number) => JSON.stringify(["SET", "big", "x".repeat(length)]);
  const overhead = command(0).length;
  expect(await rig.rest("/", post(command(size - overhead + 1)))).toMatchObject({
    status: 413,
    json: { error: expect.stringContaining("ERR max request size exceeded") },
  });
  expect(await rig.rest("/", post(command(size - overhead)))).toMatchObject({ json: { result: "OK" } });
  const { json } = await rig.rest("/strlen/big");
  expect(json).toEqual({ result: size - overhead });
});

test("path form: arguments in the path, the body as the last, options in the query", async () => {
  expect((await rig.rest("/set/foo/bar%2Fbaz%20%C3%A9")).json).toEqual({ result: "OK" });
  expect((await rig.rest("/get/foo")).json).toEqual({ result: "bar/baz é" });
  expect((await rig.rest("/set/foo?EX=100&NX", post("value?&/"))).json).toEqual({ result: null });
  expect((await rig.rest("/set/foo?EX=100", post("value?&/"))).json).toEqual({ result: "OK" });
  expect((await rig.rest("/get/foo")).json).toEqual({ result: "value?&/" });
  expect((await rig.rest("/ttl/foo")).json).toEqual({ result: 100 });
  const bytes = Buffer.from([0, 255, 13, 10, 128]);
  await rig.rest("/set/bytes", { method: "PUT", body: bytes });
  const headers = { "upstash-encoding": "base64" };
  expect((await rig.rest("/get/bytes", { headers })).json).toEqual({ result: bytes.toString("base64") });
});

test("base64 encodes strings at any depth, but a bare OK, numbers, null and errors stay", async () => {
  const run = async (command: unknown[]) =>
    (await rig.rest("/", post(command, { "upstash-encoding": "base64" }))).json;
  expect(await run(["SET", "k", "OK"])).toEqual({ result: "OK" });
  expect(await run(["GET", "k"])).toEqual({ result: "OK" });
  expect(await run(["PING"])).toEqual({ result: btoa("PONG") });
  expect(await run(["EVAL", "return {'OK', {'a', 1, false}}", 0])).toEqual({
    result: ["T0s=", ["YQ==", 1, null]],
  });
  expect(await run(["GET"])).toEqual({ error: "ERR wrong number of arguments for 'get' command" });
  const pipeline = await rig.rest(
    "/pipeline",
    post([["GET", "k"], ["PING"]], { "upstash-encoding": "base64" }),
  );
  expect(pipeline.json).toEqual([{ result: "OK" }, { result: btoa("PONG") }]);
});

test("what would hold the connection is refused, on every path", async () => {
  const commands = [
    ["SUBSCRIBE", "c"],
    ["monitor"],
    ["BLPOP", "l", 0],
    ["XREAD", "BLOCK", 0, "STREAMS", "s", "0"],
  ];
  for (const command of [...commands, ["MULTI"], ["WATCH", "k"], ["WAIT", 1, 0]]) {
    const error = { error: expect.stringMatching(/^ERR Command is not available: '[A-Z]+'/) };
    expect(await rig.rest("/", post(command))).toMatchObject({ status: 400, json: error });
    expect((await rig.rest("/pipeline", post([["PING"], command, ["PING"]]))).json).toEqual([
      { result: "PONG" },
      error,
      { result: "PONG" },
    ]);
    const discarded = await rig.rest("/multi-exec", post([["SET", "refused", 1], command]));
    expect(discarded).toMatchObject({ status: 400, json: error });
  }
  expect((await rig.rest("/exists/refused")).json).toEqual({ result: 0 });
});

test("numbers in a command are their text; the sync token comes back", async () => {
  const reply = await rig.rest("/", post(["SET", "k", 9007199254740991], { "upstash-sync-token": "abc" }));
  expect(reply.headers.get("upstash-sync-token")).toBe("abc");
  expect((await rig.rest("/get/k")).json).toEqual({ result: "9007199254740991" });
});

test("a transaction is contiguous: no reader ever sees its middle", async () => {
  const write = (i: number) => [
    ["SET", "left", i],
    ["SET", "right", i],
  ];
  const look = [
    ["GET", "left"],
    ["GET", "right"],
  ];
  const writers = Array.from({ length: 100 }, (_, i) => rig.rest("/multi-exec", post(write(i))));
  const readers = Array.from({ length: 100 }, () => rig.rest("/multi-exec", post(look)));
  await Promise.all(writers);
  for (const { json } of await Promise.all(readers)) {
    const [left, right] = json as { result: string }[];
    expect(left).toEqual(right);
  }
});

test("requests are counted", async () => {
  rig.double.requests = 0;
  await rig.rest("/ping");
  await rig.rest("/pipeline", post([["PING"], ["PING"]]));
  expect(rig.double.requests).toBe(2);
});
