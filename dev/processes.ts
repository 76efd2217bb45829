// Other processes: whether one is still the one that was started, and how its whole group is ended.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;
const LINUX = existsSync("/proc/self/stat");

/** When a process began, which tells it from a later one of the same number. Undefined: it is over. */
export function bornAt(pid: number): string | undefined {
  if (!LINUX)
    return (
      spawnSync("ps", ["-o", "lstart=", "-p", String(pid)])
        .stdout.toString()
        .trim() || undefined
    );
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, a name in brackets, may hold anything. State is the third, the start the 22nd.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return fields[0] === "Z" ? undefined : `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** True when it is over in time. */
export async function isOver(pid: number, patience_ms: number): Promise<boolean> {
  const born = bornAt(pid);
  for (const end = Date.now() + patience_ms; born && bornAt(pid) === born; await sleep(POLL_MS)) {
    if (Date.now() > end) return false;
  }
  return true;
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends the group that `pid` leads, by force what is left of it once the leader is over or too slow. */
export async function endGroup(pid: number, patience_ms = 5_000) {
  signalGroup(pid, "SIGTERM");
  await isOver(pid, patience_ms);
  signalGroup(pid, "SIGKILL");
  await isOver(pid, patience_ms);
}
