// Portkey's gateway before the same upstream: a proxy without books, fetched once into dist/bench when it is not there.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../dev/redis.ts";
import { type Server, startServer } from "./child.ts";

const NAME = "@portkey-ai/gateway";
export const PORTKEY_VERSION = "1.15.2";
const FOLDER = join(import.meta.dirname, "..", "..", "dist", "bench", `portkey-${PORTKEY_VERSION}`);

/**
 * As it is published it fails on every stream in Node ("TypeError: immutable"): it writes into the headers of a fetched response.
 * Here it gets such responses with headers that it may write into. It also ends when its stdin does.
 */
const PRELOAD = `
const { fetch } = globalThis;
globalThis.fetch = async (...asked) => {
  const answer = await fetch(...asked);
  return new Response(answer.body, answer);
};
process.stdin.resume().on("end", () => process.exit(0));
`;

function install(): string {
  const program = join(FOLDER, "node_modules", NAME, "build", "start-server.js");
  if (existsSync(program)) return program;
  mkdirSync(FOLDER, { recursive: true });
  const flags = ["--prefix", FOLDER, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  execFileSync("npm", ["install", ...flags, `${NAME}@${PORTKEY_VERSION}`], { stdio: "ignore" });
  return program;
}

/** Throws where it cannot be installed or does not start. */
export async function startPortkey(): Promise<Server> {
  const program = install();
  const port = await freePort();
  const preload = `data:text/javascript,${encodeURIComponent(PRELOAD)}`;
  return startServer(process.execPath, ["--import", preload, program, `--port=${port}`, "--headless"], port, {
    env: { ...process.env, NODE_ENV: "production" },
  });
}

export const portkeyHeaders = (upstream_url: string) => ({
  "x-portkey-provider": "openai",
  "x-portkey-custom-host": `${upstream_url}/v1`,
});
