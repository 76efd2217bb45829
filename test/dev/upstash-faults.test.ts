// Faults that tests switch on, and a redis that is gone, hangs, or comes back.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { connect, post, type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.double.clearFaults();
  await rig.client.flushall();
});

test("drop_before: the connection breaks and nothing was done", async () => {
  rig.double.fault({ kind: "drop_before" });
  await expect(rig.client.incr("n")).rejects.toThrow(/fetch failed/);
  expect(await rig.client.incr("n")).toBe(1);
});

test("drop_after: it was done, and the reply is lost", async () => {
  rig.double.fault({ kind: "drop_after" });
  await expect(rig.client.incr("n")).rejects.toThrow(/fetch failed/);
  expect(await rig.client.incr("n")).toBe(2);
});

test("html_500: an error page instead of JSON, nothing done", async () => {
  rig.double.fault({ kind: "html_500" });
  await expect(rig.client.incr("n")).rejects.toThrow(/Unable to parse response body: <html>/);
  expect(await rig.client.incr("n")).toBe(1);
});

test("too_many_requests: 429, nothing done", async () => {
  rig.double.fault({ kind: "too_many_requests" });
  const error = expect.stringContaining("ERR max requests limit exceeded");
  expect(await rig.rest("/incr/n")).toMatchObject({ status: 429, json: { error } });
  expect(await rig.client.incr("n")).toBe(1);
});

test("script_flush: the script is gone just when it is called", async () => {
  const sha = await rig.client.scriptLoad("return 1");
  rig.double.fault({ kind: "script_flush", match: ([name]) => name === "evalsha" });
  expect(await rig.client.ping()).toBe("PONG");
  await expect(rig.client.evalsha(sha, [], [])).rejects.toThrow(/^NOSCRIPT/);
  expect(await rig.client.eval("return 1", [], [])).toBe(1);
  expect(await rig.client.evalsha(sha, [], [])).toBe(1);
});

test("delay: who hangs up first is served all the same", async () => {
  rig.double.fault({ kind: "delay", ms: 80 });
  await expect(connect(rig.double.url, rig.double.token, 20).incr("n")).rejects.toThrow(/timeout/);
  expect(await rig.client.get("n")).toBeNull();
  await expect.poll(() => rig.client.get("n")).toBe("1");
});

test("times and match: as often as asked, on any command of a pipeline", async () => {
  rig.double.fault({ kind: "drop_before", times: 2, match: ([name, key]) => name === "incr" && key === "n" });
  expect(await rig.client.incr("other")).toBe(1);
  await expect(rig.client.pipeline().ping().incr("n").exec()).rejects.toThrow();
  await expect(rig.client.multi().incr("n").exec()).rejects.toThrow();
  expect(await rig.client.incr("n")).toBe(1);
});

test("two faults hit one request after the other, until they are cleared", async () => {
  rig.double.fault({ kind: "drop_after" });
  rig.double.fault({ kind: "drop_before", times: 9 });
  for (let i = 0; i < 3; i++) await expect(rig.client.incr("n")).rejects.toThrow();
  rig.double.clearFaults();
  expect(await rig.client.incr("n")).toBe(2);
});

test("a dead redis is an error at once, and found again when it is back", async () => {
  await rig.redis.kill();
  const startedAt = Date.now();
  for (const [path, body] of [
    ["/", ["PING"]],
    ["/pipeline", [["PING"]]],
    ["/multi-exec", [["PING"]]],
  ] as const) {
    expect(await rig.rest(path, post(body))).toMatchObject({
      status: 500,
      json: { error: expect.any(String) },
    });
  }
  expect(Date.now() - startedAt).toBeLessThan(500);
  await rig.redis.restart();
  expect(await rig.client.ping()).toBe("PONG");
});

test("a redis that dies with a command under way answers it with an error, and nothing is sent twice", async () => {
  rig.redis.pause();
  const hanging = Promise.allSettled([rig.client.incr("n"), rig.client.incr("n")]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await rig.redis.kill();
  expect((await hanging).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await rig.redis.restart();
  expect(await rig.client.get("n")).toBeNull();
});

test("a paused redis hangs, and goes on where it was", async () => {
  rig.redis.pause();
  await expect(connect(rig.double.url, rig.double.token, 50).incr("n")).rejects.toThrow(/timeout/);
  rig.redis.resume();
  expect(await rig.client.incr("n")).toBe(2);
});

test("as its own process: the URL on a line, faults over the control route, an end on SIGTERM", async () => {
  const args = ["dev/upstash/main.ts", "--redis-port", String(rig.redis.port), "--token", "t", "--no-guard"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  const url = String(line).trim();
  const client = connect(url, "t");
  const control = (body: unknown) =>
    fetch(`${url}/__fault`, post(body, { authorization: "Bearer t" })).then(({ status }) => status);
  expect(await client.incr("n")).toBe(1);
  expect(await control({ kind: "drop_after", match: "INCR" })).toBe(200);
  expect(await client.ping()).toBe("PONG");
  await expect(client.incr("n")).rejects.toThrow();
  expect(await client.get("n")).toBe("2");
  expect(await control({ kind: "drop_before", times: 9 })).toBe(200);
  expect(await control({ clear: true })).toBe(200);
  expect(await client.incr("n")).toBe(3);
  expect(await control({ kind: "nonsense" })).toBe(400);
  expect(await control("not json")).toBe(400);
  child.kill("SIGTERM");
  expect((await once(child, "exit"))[0]).toBe(0);
});
