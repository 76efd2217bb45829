// A Worker that only passes on what comes, in the same workerd: what of the time is the platform's and not ours.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../dev/redis.ts";
import { type Server, startServer } from "./child.ts";

const SOURCE = `export default {
  fetch: (request, { UPSTREAM }) => fetch(UPSTREAM + new URL(request.url).pathname, request),
};`;

const configOf = (port: number, upstream_url: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = "2026-08-04",
  bindings = [(name = "UPSTREAM", text = "${upstream_url}")],
);
`;

export async function startBare(upstream_url: string): Promise<Server> {
  const program = createRequire(import.meta.url)("workerd").default as string;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "qm-bench-bare-"));
  try {
    writeFileSync(join(folder, "index.js"), SOURCE);
    writeFileSync(join(folder, "config.capnp"), configOf(port, upstream_url));
    return await startServer(program, ["serve", join(folder, "config.capnp")], port); // it has read both by then
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
