// The production bundle under `workerd serve`, without a proxy before it, and the Upstash double in a process of its own:
// what carries a thousand calls at once, and what a benchmark measures. Everything is on 127.0.0.1 and a free port.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { unstable_readConfig } from "wrangler";

export interface Running {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const ROOT = join(import.meta.dirname, "..", "..");
/** What `wrangler deploy --dry-run --outdir dist/worker` builds. */
const BUNDLE = join(ROOT, "dist", "worker");
const ASSETS = join(ROOT, "dist", "assets");
const START_MS = 30_000;

/** The program for this machine, as the package itself finds it. */
const workerd = () => createRequire(import.meta.url)("workerd").default as string;

const quoted = (value: string) => JSON.stringify(value);

/** The configuration in Cap'n Proto text. Module names are relative to the file, which stands beside the bundle. */
function configOf(modules: readonly string[], vars: Record<string, string>) {
  const {
    compatibility_date,
    compatibility_flags,
    vars: defaults,
  } = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  const bindings = Object.entries({ ...defaults, ...vars }).map(
    ([name, value]) => `(name = ${quoted(name)}, text = ${quoted(String(value))})`,
  );
  const texts = modules.map((name) => `(name = ${quoted(name)}, text = embed ${quoted(name)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "assets", disk = (path = ${quoted(ASSETS)})),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js"), ${texts.join(", ")}],
  compatibilityDate = ${quoted(compatibility_date ?? "")},
  compatibilityFlags = [${(compatibility_flags ?? []).map(quoted).join(", ")}],
  bindings = [(name = "ASSETS", service = "assets"), ${bindings.join(", ")}],
);
`;
}

/** The first line that `read` takes; when the process ends before, its own words are in the error. */
async function firstLine(
  child: ChildProcess,
  from: Readable,
  read: (line: string) => string | undefined,
): Promise<string> {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk).slice(-4000);
  });
  const found = new Promise<string>((resolve) => {
    createInterface(from).on("line", (line) => {
      const value = read(line);
      if (value !== undefined) resolve(value);
    });
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${child.spawnfile} ended with code ${code} before it was ready:\n${said}`);
  });
  const late = AbortSignal.timeout(START_MS);
  const timeout = once(late, "abort").then(() => {
    throw new Error(`${child.spawnfile} is not ready after ${START_MS / 1000} s:\n${said}`);
  });
  return Promise.race([found, ended, timeout]);
}

/** A child once it has said its URL. It ends with this process, whatever becomes of that. */
async function runningAt(
  child: ChildProcess,
  saidUrl: Promise<string>,
  cleanUp = () => {},
): Promise<Running> {
  const end = () => {
    child.kill("SIGKILL"); // it holds nothing that could be lost
    cleanUp();
  };
  process.once("exit", end);
  const stop = async () => {
    process.off("exit", end);
    const ended =
      child.exitCode === null && child.signalCode === null && child.pid ? once(child, "exit") : undefined;
    end();
    await ended;
  };
  const url = await saidUrl.catch((error) => stop().then(() => Promise.reject(error)));
  return { url, pid: child.pid ?? 0, stop };
}

/** The Worker with these variables and secrets; those of wrangler.toml's [vars] are there, too. */
export async function startWorkerd(vars: Record<string, string>): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-workerd-"));
  cpSync(BUNDLE, folder, { recursive: true });
  const modules = readdirSync(folder).filter((file) => file.endsWith(".lua"));
  const config = join(folder, "config.capnp");
  writeFileSync(config, configOf(modules, vars));
  const child = spawn(workerd(), ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const url = firstLine(child, child.stdio[3] as Readable, (line) => {
    const { event, port } = JSON.parse(line);
    return event === "listen" ? `http://127.0.0.1:${port}` : undefined;
  });
  return runningAt(child, url, () => rmSync(folder, { recursive: true, force: true }));
}

/** The Upstash double before the redis on that port; without its guard scripts cost what they cost, and time is the real one. */
export async function startUpstashProcess(redisPort: number, { guard = true, token = "local-token" } = {}) {
  const program = join(ROOT, "dev", "upstash", "main.ts");
  const args = [
    program,
    "--redis-port",
    String(redisPort),
    "--token",
    token,
    ...(guard ? [] : ["--no-guard"]),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const url = firstLine(child, child.stdout, (line) => (line.startsWith("http") ? line : undefined));
  return { ...(await runningAt(child, url)), token };
}
