// A private redis-server as a child process: for the local stack (with a `dir`, durable) and for the tests.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface RedisServer {
  readonly port: number;
  readonly pid: number;
  /** Graceful: what is durable is on disk when it resolves. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** While paused it accepts connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** Starts again on the same port, and stops first if it runs. */
  restart(): Promise<void>;
}

export interface RedisOptions {
  port?: number;
  /** Keeps the data here; without it everything is gone with the process. */
  dir?: string;
  /** Its own process group, so that a Ctrl-C reaches only the parent, which then stops it in order. */
  detached?: boolean;
}

const START_MS = 30_000;
const STOP_MS = 10_000;
const ATTEMPTS = 20;

class PortTaken extends Error {}

/** A port nobody listens on now, below the ephemeral range: no outgoing connection takes it during a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const probe = createServer();
    const free = await new Promise((resolve) => {
      probe.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!free) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}

function findServer(): string {
  for (const name of ["redis-server", "valkey-server"]) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {}
    }
  }
  throw new Error(
    "neither redis-server nor valkey-server is on the PATH: install one " +
      "(Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)",
  );
}

/** Resolves when the server has loaded its data and answers; otherwise its own output is in the error. */
async function launch(program: string, port: number, { dir, detached = false }: RedisOptions) {
  const durable = dir
    ? ["--dir", dir, "--appendonly", "yes", "--appendfsync", "everysec"]
    : ["--appendonly", "no"];
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", ...durable];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached });
  let output = "";
  const reason = await new Promise<string>((resolve) => {
    const timer = setTimeout(() => resolve(`is not ready after ${START_MS / 1000} s`), START_MS);
    const settle = (why: string) => {
      clearTimeout(timer);
      resolve(why);
    };
    const read = (chunk: Buffer) => {
      output = (output + chunk).slice(-4_000);
      if (output.includes("Ready to accept connections")) settle("");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) => settle(`ended with code ${code}`));
  });
  if (!reason) return child;
  child.kill("SIGKILL");
  if (/address already in use/i.test(output)) throw new PortTaken(`port ${port} is taken (redis)`);
  throw new Error(`${program} on port ${port} ${reason}:\n${output}`);
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  child.kill("SIGCONT");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = findServer();
  if (options.dir) mkdirSync(options.dir, { recursive: true });

  /** Between finding a port and binding it, someone else may have been faster. */
  const launchPatiently = async (choosePort: () => number | Promise<number>) => {
    for (let attempt = 1; ; attempt++) {
      const port = await choosePort();
      try {
        return { port, child: await launch(program, port, options) };
      } catch (error) {
        if (!(error instanceof PortTaken) || attempt === ATTEMPTS) throw error;
        await sleep(50);
      }
    }
  };

  let { port, child } = options.port
    ? { port: options.port, child: await launch(program, options.port, options) }
    : await launchPatiently(freePort);

  return {
    port,
    get pid() {
      return child.pid ?? 0;
    },
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    restart: async () => {
      await end(child, "SIGTERM");
      ({ child } = await launchPatiently(() => port));
    },
  };
}
