// A caller who leaves before there is anything to read: a unit or an amount kept for two minutes, if these failed. Under `workerd
// serve`, since the proxies of the harness hide it.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { keysOf } from "../../src/keys.ts";
import { check } from "../checker/check.ts";
import { arrange } from "../support/gateway-place.ts";
import { entriesOf, tenantStateOf } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { variables } from "../support/worker.ts";
import { type Running, startUpstashProcess, startWorkerd } from "../support/workerd.ts";

const CELL = "leaves";
const keys = keysOf(CELL);
const { tenant_key, journal_key } = keys.tenant("acme");
const redis = useRedis();
let upstream: Upstream;
let double: Running;
let worker: Running;
beforeAll(async () => {
  const upstash = await startUpstashProcess(redis.server.port, { guard: false });
  double = upstash;
  upstream = await startUpstream();
  worker = await startWorkerd(variables(upstash.url, upstash.token, { CELL }));
});
afterAll(async () => {
  await worker?.stop();
  await upstream?.stop();
  await double?.stop();
});

/** A call on a socket of its own. */
function called(token: string, stream: boolean) {
  const body = JSON.stringify({ model: "demo-chat", messages: [{ role: "user", content: "Hi" }], stream });
  const { hostname, port } = new URL(worker.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

test.each([true, false])(
  "case E45 (b): before the first byte (stream: %s): upstream is cancelled, void",
  async (stream) => {
    const { token } = await arrange(worker.url, upstream.url);
    upstream.reset();
    upstream.behave({ kind: "hang", times: 1 });
    const socket = called(token, stream);
    await expect.poll(() => upstream.calls.length, { timeout: 5_000 }).toBe(1);
    // A socket that is only closed is noticed at the next write, of which there is none; one that is reset at once.
    socket.resetAndDestroy();
    const open = async () => tenantStateOf(await redis.raw.hget(tenant_key, "state")).open;
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    const ends = entriesOf(await redis.raw.xrange(journal_key, "-", "+")).filter(({ hold }) => hold);
    expect(ends.map(({ kind, amount }) => [kind, amount])).toEqual([["void", "0"]]);
    expect(await check(redis.raw, CELL)).toEqual([]);
  },
);
