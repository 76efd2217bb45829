// A server as a process of its own, which ends with the benchmark.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 30_000;
const AGAIN_MS = 50;

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** Ready when it answers anything. Its stdin is open as long as this process lives. */
export async function startServer(
  program: string,
  args: readonly string[],
  port: number,
  options: SpawnOptions = {},
): Promise<Server> {
  const child = spawn(program, args, { ...options, stdio: ["pipe", "ignore", "ignore"] });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  failed.catch(() => {}); // it is asked below
  const kill = () => child.kill("SIGKILL"); // it holds nothing that could be lost
  process.once("exit", kill);
  const stop = async () => {
    process.off("exit", kill);
    if (!child.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    kill();
    await ended;
  };
  const url = `http://127.0.0.1:${port}`;
  for (const began = Date.now(); !(await Promise.race([answers(url), failed])); await sleep(AGAIN_MS)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() - began < START_MS) continue;
    await stop();
    throw new Error(`${program} does not start`);
  }
  return { url, pid: child.pid ?? 0, stop };
}
