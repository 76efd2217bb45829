// What a REST request asks for: one command (JSON or path form), a pipeline, or a transaction; and whether it may.
import type { IncomingMessage } from "node:http";
import { readBody } from "../double.ts";
import type { Command } from "./resp.ts";

export interface Asked {
  kind: "single" | "pipeline" | "multi-exec";
  commands: Command[];
}

export class Refused extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const MAX_BODY = 10 * 1024 * 1024;
const METHODS = ["GET", "HEAD", "POST", "PUT"];

const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

function toCommand(value: unknown): Command {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isScalar)) {
    throw new Refused("ERR failed to parse command: a JSON array of strings and numbers is expected");
  }
  return value.map(String);
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Refused("ERR failed to parse command: malformed JSON");
  }
}

/** `/set/foo?EX=100` with a body is SET foo <body> EX 100. */
function fromPath(url: URL, body: Buffer): Command {
  const options = [...url.searchParams].filter(([name]) => name !== "_token");
  const rest = options.flatMap(([name, value]) => (value === "" ? [name] : [name, value]));
  try {
    const path = url.pathname.slice(1).split("/").map(decodeURIComponent);
    return [...path, ...(body.length > 0 ? [body] : []), ...rest];
  } catch {
    throw new Refused("ERR failed to parse command: malformed path");
  }
}

/** Method, token and size, before anything is parsed. */
export async function admit(request: IncomingMessage, token: string) {
  const body = await readBody(request, MAX_BODY);
  if (!METHODS.includes(request.method ?? "")) throw new Refused("ERR method not allowed", 405);
  const url = URL.parse(request.url ?? "/", "http://double");
  if (!url) throw new Refused("ERR failed to parse command: malformed path");
  const bearer = /^Bearer (.*)$/i.exec(request.headers.authorization ?? "")?.[1];
  if ((bearer ?? url.searchParams.get("_token")) !== token) {
    throw new Refused("WRONGPASS invalid or missing auth token", 401);
  }
  if (!body) throw new Refused(`ERR max request size exceeded. Limit: ${MAX_BODY} bytes`, 413);
  return { url, body };
}

export function readRequest(method: string | undefined, url: URL, body: Buffer): Asked {
  const kind = url.pathname.slice(1);
  if (kind === "pipeline" || kind === "multi-exec") {
    const list = parseJson(body);
    if (!Array.isArray(list)) throw new Refused("ERR failed to parse pipeline: a JSON array is expected");
    return { kind, commands: list.map(toCommand) };
  }
  if (kind !== "") return { kind: "single", commands: [fromPath(url, body)] };
  if (method === "GET" || method === "HEAD") throw new Refused("ERR empty command");
  return { kind: "single", commands: [toCommand(parseJson(body))] };
}
