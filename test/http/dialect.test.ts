// A stock Redis behind a REST proxy: who runs one would find a service that does not start, and not why, if these failed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBody, sendJson, serve } from "../../dev/double.ts";
import { type Reply, ReplyError, RespClient } from "../../dev/upstash/resp.ts";
import { inFlight, many, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, release } = verbsOf(worker);
const { redis } = worker;

const toBase64 = (reply: Reply): unknown =>
  Array.isArray(reply) ? reply.map(toBase64) : Buffer.isBuffer(reply) ? reply.toString("base64") : reply;
const toItem = (reply: Reply) =>
  reply instanceof ReplyError ? { error: reply.message } : { result: toBase64(reply) };

let proxy: Awaited<ReturnType<typeof serve>>;
let stock: RespClient;
const deploy = (REDIS_DIALECT: "redis" | "upstash") =>
  worker.deploy({ UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${proxy.port}`, REDIS_DIALECT });

beforeAll(async () => {
  stock = new RespClient(redis.server.port);
  proxy = await serve(async (request, response) => {
    const asked = JSON.parse(String(await readBody(request, 1_000_000)));
    const batch = request.url === "/pipeline";
    const commands: unknown[][] = batch ? asked : [asked];
    const items = (await stock.send(commands.map((command) => command.map(String)))).map(toItem);
    sendJson(response, !batch && items[0] && "error" in items[0] ? 400 : 200, batch ? items : items[0]);
  }, 0);
});
afterAll(async () => {
  await proxy.close();
  stock.close();
});

test("REDIS_DIALECT=redis: leases as anywhere", async () => {
  await deploy("redis");
  expect((await worker.call("GET", "/readyz", {})).status).toBe(200);
  await add("key_01", 2);
  const answers = await many(8, () => allocate());
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(await inFlight(redis)).toEqual(units(2));
  for (const { status, body } of answers)
    if (status === 200) expect((await release(body)).body.released).toBe(true);
  await lease();
});

test("REDIS_DIALECT=upstash: /readyz and every call name the variable to change, and nothing was applied", async () => {
  await add("key_01");
  await deploy("upstash");
  for (const answer of [await worker.call("GET", "/readyz", {}), await allocate(), await add("key_02")]) {
    expect([answer.status, answer.body.code, answer.body.maybe_applied]).toEqual([
      503,
      "store_unavailable",
      false,
    ]);
    expect(answer.body.detail).toContain("REDIS_DIALECT");
  }
});
