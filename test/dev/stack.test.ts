// The local stack keeps to its folder and its ports, and leaves no process behind however it ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { openDataDir } from "../../dev/lock.ts";
import { checkPorts, optionsOf, type Ports } from "../../dev/options.ts";
import { bornAt, endGroup, isOver } from "../../dev/processes.ts";
import { freePort } from "../../dev/redis.ts";
import { startStack } from "../../dev/stack.ts";

const home = mkdtempSync(join(tmpdir(), "stack-"));
afterAll(() => rmSync(home, { recursive: true }));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(home, "data-"));
});

const VARIABLES = ["PORT", "REST_PORT", "SQL_PORT", "UPSTREAM_PORT", "REDIS_PORT"];
async function freePorts() {
  const ports = new Set<number>();
  while (ports.size < VARIABLES.length) ports.add(await freePort());
  return Object.fromEntries([...ports].map((port, i) => [VARIABLES[i], String(port)]));
}
const options = (environment: Record<string, string>) =>
  optionsOf({ PATH: process.env.PATH, DATA_DIR: dir, ...environment }, []);

/** A process that leads its own group and does nothing. */
async function sleeper() {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  return { child, pid, born: bornAt(pid) };
}

test("two starts on one folder are refused, the second is told who has it", async () => {
  const data = await openDataDir(dir);
  await expect(openDataDir(dir)).rejects.toThrow(`${dir} is in use by process ${process.pid}`);
  data.release();
  (await openDataDir(dir)).release();
});

test("a dead holder's lock is taken over, its children are ended, a stranger of the same number is not", async () => {
  const [holder, orphan, stranger] = [await sleeper(), await sleeper(), await sleeper()];
  await endGroup(holder.pid);
  const children = [
    { pid: orphan.pid, born: orphan.born },
    { pid: stranger.pid, born: "an earlier process" },
  ];
  writeFileSync(join(dir, "stack.json"), "{}");
  writeFileSync(join(dir, "lock.json"), JSON.stringify({ pid: holder.pid, born: holder.born, children }));
  const data = await openDataDir(dir);
  expect([bornAt(orphan.pid), bornAt(stranger.pid)]).toEqual([undefined, stranger.born]);
  expect(readdirSync(dir).sort()).toEqual(["lock.json", "stack.json"]);
  data.release();
  await endGroup(stranger.pid);
});

test("a folder that holds something else is neither used nor emptied", async () => {
  writeFileSync(join(dir, "letter.txt"), "dear");
  await expect(startStack({ ...options(await freePorts()), fresh: true })).rejects.toThrow(
    "holds something else",
  );
  expect(readdirSync(dir)).toEqual(["letter.txt"]);
});

test("emptied, the folder stays ours and locked", async () => {
  const data = await openDataDir(dir);
  data.save({ made: true });
  mkdirSync(join(dir, "redis"));
  data.empty();
  expect(readdirSync(dir).sort()).toEqual(["lock.json", "stack.json"]);
  expect([data.state, JSON.parse(readFileSync(join(dir, "stack.json"), "utf8"))]).toEqual([{}, {}]);
  data.release();
});

test("every taken port is named with the variable that changes it", async () => {
  const { ports } = options(await freePorts());
  const server = createServer().listen(ports.sql, "127.0.0.1");
  await once(server, "listening");
  const twice: Ports = { ...ports, redis: ports.rest };
  await expect(checkPorts(ports)).rejects.toThrow(`port ${ports.sql} (SQL_PORT)`);
  await expect(checkPorts(twice)).rejects.toThrow(`${ports.rest} (REDIS_PORT)`);
  await expect(startStack(options({ SQL_PORT: String(ports.sql) }))).rejects.toThrow("(SQL_PORT)");
  server.close();
  await checkPorts(ports);
  expect(existsSync(join(dir, "lock.json"))).toBe(false);
});

test("what cannot be understood is refused", () => {
  expect(() => options({ REST_PORT: "80790" })).toThrow("REST_PORT is not a port: 80790");
  expect(() => optionsOf({}, ["--frehs"])).toThrow("--frehs");
  expect(optionsOf({ DEMO: "0", CRON: "0" }, ["--fresh"])).toMatchObject({
    dataDir: ".local",
    ports: { worker: 8787, rest: 8079, sql: 8078, upstream: 8077, redis: 8076 },
    fresh: true,
    demo: false,
    cron: false,
  });
});

test("a start that does not come to its end ends what it had started", async () => {
  const stopped = options(await freePorts());
  await expect(startStack(stopped, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
  expect(readdirSync(dir).sort()).toEqual(["redis", "stack.json"]);
  await checkPorts(stopped.ports);
});

interface Dev {
  child: ChildProcess;
  ended: Promise<{ code: number | null; output: string }>;
  /** Resolves as soon as it has said so. */
  says(text: string): Promise<void>;
}
const running: Dev[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
});

/** `npm run dev`, without the npm. */
function dev(environment: Record<string, string>): Dev {
  const env = { ...process.env, DATA_DIR: dir, CRON: "0", ...environment };
  const child = spawn(process.execPath, ["dev/main.ts"], { env });
  let output = "";
  const ended = once(child, "close").then(([code]) => ({ code, output }));
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        if (output.includes(text)) resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      ended.then(() => reject(new Error(`ended without: ${text}\n${output}`)));
    });
  const started = { child, ended, says };
  running.push(started);
  return started;
}

const childrenNow = (): number[] =>
  JSON.parse(readFileSync(join(dir, "lock.json"), "utf8")).children.map(({ pid }: { pid: number }) => pid);

test("environment overrides; a crash ends all with 1, a SIGTERM during the next start with 0", {
  timeout: 120_000,
}, async () => {
  const ports = await freePorts();
  const first = dev({ ...ports, INTERNAL_KEYS: "another-internal-key" });
  await first.says(`Quartermaster is ready: http://127.0.0.1:${ports.PORT}\n`);
  const allocate = async (key: string) => {
    const response = await fetch(`http://127.0.0.1:${ports.PORT}/api/internal/allocate-key`, {
      method: "POST",
      headers: { "x-internal-key": key, "content-type": "application/json" },
      body: JSON.stringify({ provider: "demo", model: "demo-chat", pool: "vip" }),
    });
    return response.status;
  };
  expect([await allocate("another-internal-key"), await allocate("dev-internal-key")]).toEqual([200, 401]);
  const [redis = 0, wrangler = 0] = childrenNow();

  process.kill(wrangler, "SIGKILL");
  const crash = await first.ended;
  expect([crash.code, crash.output.includes("the Worker has ended")]).toEqual([1, true]);
  expect(await Promise.all([redis, wrangler].map((pid) => isOver(pid, 0)))).toEqual([true, true]);
  const { ports: all } = options(ports);
  await checkPorts(all);

  const second = dev(ports);
  await second.says("Starting");
  second.child.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
  await checkPorts(all);
  expect(existsSync(join(dir, "lock.json"))).toBe(false);
});
