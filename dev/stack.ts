// The local stack: redis, its REST double, Postgres behind its HTTP double, the demo upstream, the Worker.
import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { type Api, loadDemo, loadPrices, loadTenant, makeCell, START_REQUEST } from "./demo.ts";
import { type DataDir, openDataDir } from "./lock.ts";
import { type NeonDouble, startNeon } from "./neon/server.ts";
import { checkPorts, type Environment, type StackOptions } from "./options.ts";
import { bornAt } from "./processes.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import { startUpstash, type UpstashDouble } from "./upstash/server.ts";
import { startUpstream, type Upstream } from "./upstream/server.ts";
import { startWorker, type WorkerProcess } from "./worker.ts";

export interface Stack {
  api: Api;
  redis: RedisServer;
  upstash: UpstashDouble;
  neon: NeonDouble;
  upstream: Upstream;
  worker: WorkerProcess;
  /** A token of the demo's tenant, where there is one. */
  token: string | undefined;
  /** Resolves with what ended by itself. */
  crashed: Promise<string>;
  stop(): Promise<void>;
}

interface Running {
  /** Aborted: stops the start at the next step, and what was started with it. */
  signal?: AbortSignal;
  log?: (line: string) => void;
}

const CRON_MS = 60_000;
const WATCH_MS = 500;

/** All of it, or nothing: what was started before a failure is ended again. */
export async function startStack(options: StackOptions, running: Running = {}): Promise<Stack> {
  const cleanup = new AsyncDisposableStack();
  try {
    const started = await start(options, cleanup, running);
    let stopping: Promise<void> | undefined;
    return {
      ...started,
      stop: () => {
        stopping ??= cleanup.disposeAsync();
        return stopping;
      },
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

async function start(
  { dataDir, ports, environment, fresh, demo, cron }: StackOptions,
  cleanup: AsyncDisposableStack,
  { signal = new AbortController().signal, log = () => {} }: Running,
): Promise<Omit<Stack, "stop">> {
  /** One step: its result is stopped at the end, in reverse order. */
  async function step<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const started = await starting;
    cleanup.defer(() => started.stop());
    signal.throwIfAborted();
    return started;
  }

  const data = await openDataDir(resolve(dataDir));
  cleanup.defer(() => data.release());
  await checkPorts(ports);
  // A first start that did not come to its end has left nothing worth keeping.
  if (fresh || !data.state.made) data.empty();

  log("Starting redis, Postgres, the demo upstream and the Worker ...");
  const redis = await step(startRedis({ port: ports.redis, dir: join(data.path, "redis"), detached: true }));
  data.addChild(redis.pid);
  const upstash = await step(startUpstash({ redisPort: redis.port, port: ports.rest }));
  const neon = await step(startNeon({ port: ports.sql, dataDir: join(data.path, "postgres") }));
  const upstream = await step(startUpstream({ port: ports.upstream }));
  const variables = { ...localVariables(data, upstash, neon), ...environment };
  const worker = await step(
    startWorker({
      port: ports.worker,
      dataDir: data.path,
      environment: variables,
      signal,
      log: (line) => {
        if (!line.includes(START_REQUEST) || line.includes("ERROR")) log(line);
      },
      onSpawn: (pid) => data.addChild(pid),
    }),
  );
  const api: Api = {
    url: worker.url,
    adminKey: first(variables.ADMIN_KEYS),
    internalKey: first(variables.INTERNAL_KEYS),
    metricsKey: first(variables.METRICS_KEYS),
  };
  if (!data.state.made) await makeCell(api);
  data.save({ made: true });
  signal.throwIfAborted();
  if (demo) await loadDemo(api, upstream.url);
  if (demo) await loadPrices(api);
  const known = typeof data.state.token === "string" ? data.state.token : undefined;
  const token = demo ? await loadTenant(api, known) : undefined;
  if (token) data.save({ token });
  if (cron) cleanup.defer(startCron(api.url, log));
  const crashed = Promise.race([
    worker.exited.then(() => "the Worker has ended"),
    gone(redis, cleanup).then(() => "redis has ended"),
  ]);
  return { api, redis, upstash, neon, upstream, worker, token, crashed };
}

const first = (keys = "") => keys.split(",")[0]?.trim() ?? "";

/** The local defaults of the Worker's variables. Keys are made once, so that what was sealed can be opened. */
function localVariables(data: DataDir, upstash: UpstashDouble, neon: NeonDouble) {
  data.save({
    SEALING_KEYS: data.state.SEALING_KEYS ?? `local:${randomBytes(32).toString("base64")}`,
    SESSION_KEYS: data.state.SESSION_KEYS ?? randomBytes(32).toString("base64url"),
  });
  const variables: Environment = {
    UPSTASH_REDIS_REST_URL: upstash.url,
    UPSTASH_REDIS_REST_TOKEN: upstash.token,
    DATABASE_URL: neon.connectionString,
    SQL_URL: neon.url,
    INTERNAL_KEYS: "dev-internal-key",
    ADMIN_KEYS: "dev-admin-key",
    METRICS_KEYS: "dev-metrics-key",
    SEALING_KEYS: String(data.state.SEALING_KEYS),
    SESSION_KEYS: String(data.state.SESSION_KEYS),
    ALLOW_PRIVATE_UPSTREAMS: "true",
  };
  return variables;
}

/** `wrangler dev` never fires a cron trigger by itself. */
function startCron(url: string, log: (line: string) => void) {
  const fire = () =>
    fetch(`${url}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`, { signal: AbortSignal.timeout(CRON_MS) }).catch(
      (error) => log(`cron: ${error.message}`),
    );
  const timer = setInterval(fire, CRON_MS);
  return () => clearInterval(timer);
}

function gone(redis: RedisServer, cleanup: AsyncDisposableStack) {
  return new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (!bornAt(redis.pid)) resolve();
    }, WATCH_MS);
    cleanup.defer(() => clearInterval(timer));
  });
}
