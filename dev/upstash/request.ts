// What a REST request asks for: one command (JSON or path form), a pipeline, or a transaction.
import type { IncomingMessage } from "node:http";
import type { Command } from "./resp.ts";

export interface Asked {
  kind: "single" | "pipeline" | "multi-exec";
  commands: Command[];
}

export class BadRequest extends Error {}

const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

function toCommand(value: unknown): Command {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isScalar)) {
    throw new BadRequest("ERR failed to parse command: a JSON array of strings and numbers is expected");
  }
  return value.map(String);
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new BadRequest("ERR failed to parse command: malformed JSON");
  }
}

/** `/set/foo?EX=100` with a body is SET foo <body> EX 100. */
function fromPath(url: URL, body: Buffer): Command {
  const path = url.pathname.slice(1).split("/").map(decodeURIComponent);
  const options = [...url.searchParams].filter(([name]) => name !== "_token");
  const rest = options.flatMap(([name, value]) => (value === "" ? [name] : [name, value]));
  return [...path, ...(body.length > 0 ? [body] : []), ...rest];
}

export function readRequest(request: IncomingMessage, url: URL, body: Buffer): Asked {
  const kind = url.pathname.slice(1);
  if (kind === "pipeline" || kind === "multi-exec") {
    const list = parseJson(body);
    if (!Array.isArray(list)) throw new BadRequest("ERR failed to parse pipeline: a JSON array is expected");
    return { kind, commands: list.map(toCommand) };
  }
  if (kind !== "") return { kind: "single", commands: [fromPath(url, body)] };
  if (request.method === "GET" || request.method === "HEAD") throw new BadRequest("ERR empty command");
  return { kind: "single", commands: [toCommand(parseJson(body))] };
}
