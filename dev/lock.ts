// The folder of a local stack: whether it is ours, who uses it, and which processes a dead user left behind.
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bornAt, endGroup } from "./processes.ts";

/** Its presence marks a folder as ours. It holds what must outlive a start. */
const STATE = "stack.json";
const LOCK = "lock.json";

interface Process {
  pid: number;
  born: string | undefined;
}
type Holder = Process & { children: Process[] };

export interface DataDir {
  path: string;
  state: Record<string, unknown>;
  save(changes: Record<string, unknown>): void;
  /** Removes everything in it, state included. */
  empty(): void;
  /** Written down, so that the next start can end it if this process is killed. It must lead its group. */
  addChild(pid: number): void;
  release(): void;
}

function read<T>(file: string): Partial<T> | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Never half a file, whenever we are killed. */
function write(file: string, content: object) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(content, null, 2), { mode: 0o600 });
  renameSync(draft, file);
}

const isAlive = ({ pid, born }: Partial<Process>) =>
  pid !== undefined && born !== undefined && bornAt(pid) === born;

/** Takes the lock, or says who has it. A dead holder's is taken over, and its children are ended first. */
async function lock(dir: string, content: Holder) {
  const file = join(dir, LOCK);
  const draft = `${file}.${process.pid}`;
  for (;;) {
    writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
    try {
      linkSync(draft, file);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft);
    }
    const holder = read<Holder>(file);
    if (holder && isAlive(holder)) {
      throw new Error(`${dir} is in use by process ${holder.pid}: end it, or set DATA_DIR to another folder`);
    }
    for (const child of holder?.children ?? []) if (isAlive(child)) await endGroup(child.pid);
    removeStale(file, holder);
  }
}

/** Of two that find the same stale lock only one may remove it, and neither the other's new one. */
function removeStale(file: string, holder: Partial<Holder> | undefined) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (JSON.stringify(read(aside)) === JSON.stringify(holder)) rmSync(aside);
  else renameSync(aside, file);
}

export async function openDataDir(path: string): Promise<DataDir> {
  mkdirSync(path, { recursive: true });
  const names = readdirSync(path);
  if (names.length > 0 && !names.includes(STATE)) {
    throw new Error(`${path} holds something else: set DATA_DIR to a folder that is empty or does not exist`);
  }
  const state = join(path, STATE);
  if (names.length === 0) write(state, {});
  const holder: Holder = { pid: process.pid, born: bornAt(process.pid), children: [] };
  await lock(path, holder);
  const data: DataDir = {
    path,
    state: read(state) ?? {},
    save(changes) {
      Object.assign(data.state, changes);
      write(state, data.state);
    },
    empty() {
      data.state = {};
      data.save({});
      const kept = [STATE, LOCK];
      for (const name of readdirSync(path).filter((each) => !kept.includes(each))) {
        rmSync(join(path, name), { recursive: true });
      }
    },
    addChild(pid) {
      holder.children.push({ pid, born: bornAt(pid) });
      write(join(path, LOCK), holder);
    },
    release: () => rmSync(join(path, LOCK), { force: true }),
  };
  return data;
}
