// The production bundle in workerd, on a redis-server and an Upstash double of a test file's own.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createTestHarness } from "wrangler";
import { poolStateOf, stateOf } from "./pool.ts";
import { keys, useRedis } from "./redis.ts";

export const INTERNAL_KEY = "test-internal-key";
export const ADMIN_KEY = "test-admin-key";
export const METRICS_KEY = "test-metrics-key";
/** Two sealing keys, so that a rotation can be played. */
export const SEALING = { old: `k1:${"A".repeat(43)}=`, new: `k2:${"B".repeat(42)}A=` };

type Vars = Record<string, string>;

export const variables = (url: string, token: string, vars: Vars): Vars => ({
  CELL: "test",
  UPSTASH_REDIS_REST_URL: url,
  UPSTASH_REDIS_REST_TOKEN: token,
  DATABASE_URL: "postgres://user:password@db.localtest.me/main",
  INTERNAL_KEYS: INTERNAL_KEY,
  ADMIN_KEYS: ADMIN_KEY,
  METRICS_KEYS: METRICS_KEY,
  SEALING_KEYS: SEALING.old,
  SESSION_KEYS: "test-session-key",
  ALLOW_PRIVATE_UPSTREAMS: "true",
  ...vars,
});

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as a caller would
  readonly body: any;
}

function answerOf(status: number, headers: Headers, text: string): Answer {
  const json = headers.get("content-type")?.includes("json");
  return { status, headers, body: json ? JSON.parse(text) : text };
}

async function unfinished(url: string, headers: Vars, chunks: readonly string[]): Promise<Answer> {
  const request = httpRequest(url, { method: "POST", headers });
  request.flushHeaders();
  for (const chunk of chunks) request.write(chunk);
  const [reply] = (await once(request, "response")) as [IncomingMessage];
  const answer = answerOf(reply.statusCode ?? 0, new Headers(reply.headers as Vars), await text(reply));
  request.destroy();
  return answer;
}

/** The Worker with its Redis; a cell is made before each test, and `reset` forgets what an isolate remembers. */
export function useWorker(vars: Vars = {}) {
  const redis = useRedis();
  let server: ReturnType<typeof createTestHarness>;
  let url: URL;

  const call = async (method: string, path: string, headers: Vars, body?: unknown): Promise<Answer> => {
    const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const type: Vars = body === undefined ? {} : { "content-type": "application/json" };
    const init = { method, headers: { ...type, ...headers }, ...(sent === undefined ? {} : { body: sent }) };
    const reply = await server.fetch(path, init);
    return answerOf(reply.status, new Headers([...reply.headers]), await reply.text());
  };
  const options = (more: Vars = {}) => ({
    workers: [
      {
        configPath: "./wrangler.toml",
        prebuiltWorkerDir: "dist/worker",
        vars: variables(redis.double.url, redis.double.token, { ...vars, ...more }),
      },
    ],
  });
  const worker = {
    redis,
    call,
    /** A POST whose body never ends: what is answered before it is read. */
    unfinished: (path: string, headers: Vars, chunks: readonly string[] = []) =>
      unfinished(new URL(path, url).href, { "content-type": "application/json", ...headers }, chunks),
    internal: (path: string, body: unknown) =>
      call("POST", `/api/internal${path}`, { "x-internal-key": INTERNAL_KEY }, body),
    admin: (method: string, path: string, body?: unknown, headers: Vars = {}) =>
      call(method, `/api/admin${path}`, { authorization: `Bearer ${ADMIN_KEY}`, ...headers }, body),
    /** The same Worker with other variables: a deploy. */
    deploy: (more: Vars) => server.update(options(more)),
    /** Where a browser finds it. */
    url: async () => (await server.listen()).url.origin,
    logs: () => server.getLogs(),
    clearLogs: () => server.clearLogs(),
  };
  beforeAll(async () => {
    server = createTestHarness(options());
    ({ url } = await server.listen());
  });
  beforeEach(async () => {
    await worker.admin("POST", "/cell");
  });
  afterAll(() => server.close());
  return worker;
}

/** A credential as an operator posts it, with defaults for what a test does not care about. */
export const credential = (key_id: string, more: Record<string, unknown> = {}) => ({
  key_id,
  provider: "openai",
  pool: "default",
  kind: "api_key",
  secret: { api_key: `sk-${key_id}` },
  max_concurrent_uses: 1,
  models: { "gpt-4o": "gpt-4o-2024-11-20" },
  ...more,
});

interface Held {
  readonly lease_id: string;
  readonly key_id: string;
  readonly pool: string;
  readonly provider: string;
}
export type More = Record<string, unknown>;

/** The verbs as callers send them, with defaults for what a test does not care about. */
export function verbsOf({ internal, admin }: Pick<ReturnType<typeof useWorker>, "internal" | "admin">) {
  const held = ({ lease_id, key_id, pool, provider }: Held, verb: string, more: More) =>
    internal(`/leases/${lease_id}/${verb}`, { key_id, pool, provider, ...more });
  const verbs = {
    add: (key_id: string, max_concurrent_uses = 1, more: More = {}) =>
      admin("POST", "/credentials", credential(key_id, { max_concurrent_uses, ...more })),
    allocate: (more: More = {}) =>
      internal("/allocate-key", { provider: "openai", model: "gpt-4o", ...more }),
    /** An allocation that must be granted. */
    lease: async (more: More = {}) => {
      const { status, body } = await verbs.allocate(more);
      if (status !== 200) throw new Error(`not granted: ${status} ${body.code} ${body.detail}`);
      return body;
    },
    renew: (lease: Held, more: More = {}) => held(lease, "renew", { lease_seconds: 35, ...more }),
    release: (lease: Held, more: More = {}) => held(lease, "release", more),
  };
  return verbs;
}

/** `n` calls at once. */
export const many = <T>(n: number, one: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => one(i)));

/** In flight as its three records say it: the credentials, the pool, the set of leases. They must agree. */
export async function inFlight({ raw }: ReturnType<typeof useRedis>, provider = "openai", pool = "default") {
  const { pool_key, leases_key } = keys.pool(provider, pool);
  const { "@pool": own = "", ...fields } = await raw.hgetall(pool_key);
  const states = Object.entries(fields).filter(([id]) => !id.startsWith("@"));
  return {
    credentials: states.reduce((sum, [, text]) => sum + stateOf(text).in_flight, 0),
    pool: poolStateOf(own).in_flight,
    leases: await raw.zcard(leases_key),
  };
}
export const units = (n: number) => ({ credentials: n, pool: n, leases: n });

/** What goes on after a reply has nobody to wait for it: so many units in flight, soon. */
export const settled = (redis: ReturnType<typeof useRedis>, n: number) =>
  expect.poll(() => inFlight(redis), { timeout: 5000 }).toEqual(units(n));
