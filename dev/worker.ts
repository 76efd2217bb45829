// The Worker in `wrangler dev`, as a child process with its own group.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { Environment } from "./options.ts";
import { endGroup } from "./processes.ts";

const ROOT = join(import.meta.dirname, "..");
const START_MS = 60_000;
const POLL_MS = 50;
const RUNTIME_CRASHED = "The Workers runtime crashed";

/** Keeps wrangler to itself: no questions, no files in the home folder, nothing from the internet. */
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

export interface WorkerOptions {
  port: number;
  dataDir: string;
  /** The names in [vars] and [secrets] of wrangler.toml reach the Worker, and no others. */
  environment: Environment;
  signal: AbortSignal;
  log: (line: string) => void;
  /** As soon as there is a process, before it answers. */
  onSpawn: (pid: number) => void;
}

export interface WorkerProcess {
  pid: number;
  url: string;
  /** Resolves when it ends. */
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const { port, signal, log, onSpawn } = options;
  const url = `http://127.0.0.1:${port}`;
  const child = launch(options);
  const { pid } = child;
  if (pid === undefined) throw new Error("wrangler cannot be started");
  const { promise: exited, resolve: over } = Promise.withResolvers<unknown>();
  const worker = { pid, url, exited, stop: () => endGroup(pid) };

  let ended = false;
  let quiet = true;
  const startLines: string[] = [];
  child.once("exit", over).once("error", over);
  exited.then(() => {
    ended = true;
  });
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (coloured) => {
      const line = stripVTControlCharacters(coloured);
      // wrangler starts workerd again, but its proxy then answers nothing.
      if (line.includes(RUNTIME_CRASHED)) over(line);
      // What it says while it starts is worth reading only if it does not start.
      if (line.includes("[ERROR]")) quiet = false;
      if (quiet) startLines.push(line);
      else if (line.trim() && !line.startsWith("[wrangler:info]")) log(line);
    });
  }
  try {
    onSpawn(pid);
    for (const end = Date.now() + START_MS; !(await answers(url)); await sleep(POLL_MS)) {
      signal.throwIfAborted();
      const why = ended ? "ended" : Date.now() > end ? `does not answer after ${START_MS / 1000} s` : "";
      if (why) throw new Error(`wrangler ${why}:\n${startLines.slice(-40).join("\n")}`);
    }
  } catch (error) {
    await worker.stop();
    throw error;
  }
  quiet = false;
  return worker;
}

function launch({ port, dataDir, environment }: WorkerOptions) {
  const bin = join(ROOT, "node_modules", ".bin");
  const args = ["--port", port, "--ip", "127.0.0.1", "--inspector-port", 0, "--env-file", "/dev/null"];
  const env: Environment = {
    ...environment,
    ...QUIET,
    PATH: `${bin}:${environment.PATH ?? ""}`,
    WRANGLER_REGISTRY_PATH: join(dataDir, "wrangler"),
  };
  return spawn(
    process.execPath,
    [
      join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js"),
      "dev",
      ...args.map(String),
      "--show-interactive-dev-session=false",
    ],
    {
      cwd: ROOT,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: env as NodeJS.ProcessEnv,
    },
  );
}

const answers = (url: string) =>
  fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
