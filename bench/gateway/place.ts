// The whole of it, each in a process of its own: redis-server, the Upstash double, the demo upstream, the bundle in workerd.
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../dev/redis.ts";
import { keysOf } from "../../src/keys.ts";
import { readTenantState } from "../../src/tenants/state.ts";
import build from "../../test/support/build.ts";
import { variables } from "../../test/support/worker.ts";
import { startUpstashProcess, startWorkerd } from "../../test/support/workerd.ts";
import type { Options } from "../lib/benchmark.ts";
import type { Database } from "../lib/redis.ts";
import { arrange, PUBLIC_MODEL, UPSTREAM_KEY, UPSTREAM_MODEL } from "./arrange.ts";
import { startBare } from "./bare.ts";
import { type Server, startServer } from "./child.ts";
import type { Target } from "./load.ts";
import { PORTKEY_VERSION, portkeyHeaders, startPortkey } from "./portkey.ts";

export const CELL = "gateway";
const IDLE_MS = 30_000;

/** A way to the upstream, and how a fresh process of it is started. */
export interface Way extends Target {
  readonly start: (() => Promise<Server>) | undefined;
}

export type Place = Awaited<ReturnType<typeof startPlace>>;

/** The demo upstream, and what it is told by its controls. */
async function upstreamProcess(cleanup: AsyncDisposableStack) {
  const port = await freePort();
  const program = `${import.meta.dirname}/upstream.ts`;
  const server = await startServer(process.execPath, [program, String(port)], port);
  cleanup.defer(() => server.stop());
  const tell = async (path: string, body: object = {}) => {
    await (await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) })).text();
  };
  return { url: server.url, behave: (how: object) => tell("/__behave", how), reset: () => tell("/__reset") };
}

/** All ways; what cannot be had is left out, and why is said. */
async function waysTo(upstream_url: string, worker: Server, vars: Record<string, string>, token: string) {
  const openai = { headers: { authorization: `Bearer ${UPSTREAM_KEY}` }, model: UPSTREAM_MODEL };
  const direct: Way = { name: "direct", url: upstream_url, ...openai, start: undefined };
  const bare = await startBare(upstream_url);
  const ours: Way = {
    ...{ name: "the gateway", url: worker.url, model: PUBLIC_MODEL, start: () => startWorkerd(vars) },
    headers: { authorization: `Bearer ${token}` },
  };
  const passing: Way = {
    ...{ name: "workerd, passing on", url: bare.url, ...openai },
    start: () => startBare(upstream_url),
  };
  const all = { direct, ours, passing };
  try {
    const portkey = await startPortkey();
    const headers = { ...openai.headers, ...portkeyHeaders(upstream_url) };
    const theirs: Way = { ...openai, name: "Portkey", url: portkey.url, headers, start: startPortkey };
    return {
      ...all,
      theirs,
      servers: [bare, portkey],
      note: `Portkey: @portkey-ai/gateway ${PORTKEY_VERSION}`,
    };
  } catch (error) {
    const [why] = error instanceof Error ? error.message.split("\n") : [String(error)];
    return { ...all, theirs: undefined, servers: [bare], note: `Portkey was not measured: ${why}` };
  }
}

export async function startPlace(db: Database, { cleanup, progress }: Options) {
  progress("starting the bundle, the upstream and what they are compared with");
  build();
  const upstash = await startUpstashProcess(db.main.options.port ?? 0, { guard: false });
  cleanup.defer(() => upstash.stop());
  const upstream = await upstreamProcess(cleanup);
  const vars = variables(upstash.url, upstash.token, { CELL });
  const worker = await startWorkerd(vars);
  cleanup.defer(() => worker.stop());
  const token = await arrange(worker.url, upstream.url);
  const { servers, ...ways } = await waysTo(upstream.url, worker, vars, token);
  for (const server of servers) cleanup.defer(() => server.stop());

  const open = async () =>
    readTenantState(await db.main.hget(keysOf(CELL).tenant("acme").tenant_key, "state")).open;
  return {
    upstream,
    ways,
    /** Until all calls have ended: an end comes after the reply. */
    idle: async () => {
      for (const began = Date.now(); (await open()) > 0; await sleep(20))
        if (Date.now() - began > IDLE_MS) throw new Error(`${await open()} calls have not ended`);
    },
  };
}
