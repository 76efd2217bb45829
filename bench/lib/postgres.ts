// A real PostgreSQL for a comparison, where one is installed: a private cluster in a temporary folder.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { freePort } from "../../dev/redis.ts";

/** Where Debian and Homebrew keep it; neither puts the server itself on the PATH. */
const FOLDERS = [
  "/usr/lib/postgresql/*/bin",
  "/opt/homebrew/opt/postgresql*/bin",
  "/usr/local/opt/postgresql*/bin",
];
const START_MS = 30_000;

function findPrograms(): string {
  const folders = [...globSync(FOLDERS).sort().reverse(), ...(process.env.PATH ?? "").split(delimiter)];
  const found = folders.find((folder) => {
    try {
      for (const program of ["initdb", "postgres"]) accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (!found) throw new Error("PostgreSQL is not installed (Debian: apt-get install postgresql)");
  return found;
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

async function answers(sql: Sql): Promise<boolean> {
  return sql`SELECT 1`.then(
    () => true,
    () => false,
  );
}

/** Throws where none is installed or none starts. `connections` is the size of the pool of connections. */
export async function startPostgres(cleanup: AsyncDisposableStack, connections: number): Promise<Sql> {
  const programs = findPrograms();
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "qm-bench-postgres-"));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const init = ["-D", folder, "-U", "bench", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"];
  execFileSync(join(programs, "initdb"), init, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });

  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: String(connections + 10),
    synchronous_commit: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", folder, "-p", String(port), ...flags];
  const child = spawn(join(programs, "postgres"), args, { ...user, cwd: folder, stdio: "ignore" });
  const ended = once(child, "exit");
  cleanup.defer(async () => {
    child.kill("SIGINT"); // a fast shutdown: it does not wait for clients
    await ended;
  });

  const onnotice = () => {};
  const sql = postgres({
    host: "127.0.0.1",
    port,
    user: "bench",
    database: "postgres",
    max: connections,
    onnotice,
  });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  for (const began = Date.now(); !(await answers(sql)); await sleep(50)) {
    if (child.exitCode !== null || Date.now() - began > START_MS)
      throw new Error("PostgreSQL does not start");
  }
  return sql;
}
