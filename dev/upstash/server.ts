// The Upstash Redis REST API, and its key-locking dialect, in front of a real redis-server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, Faults, readBody, sendJson, serve } from "../double.ts";
import { Dialect, refusal } from "./dialect.ts";
import { type Asked, BadRequest, parseJson, readRequest } from "./request.ts";
import { type Command, type Reply, ReplyError, RespClient } from "./resp.ts";

const KINDS = [
  "delay",
  "drop_before",
  "drop_after",
  "html_500",
  "too_many_requests",
  "script_flush",
] as const;
export type UpstashFault = Fault<(typeof KINDS)[number], string[]>;

export interface UpstashDouble {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** HTTP requests served so far; set it to 0 to count anew. */
  requests: number;
  fault(fault: UpstashFault): void;
  clearFaults(): void;
  stop(): Promise<void>;
}

export interface UpstashOptions {
  redisPort: number;
  port?: number;
  token?: string;
  /** False for benchmarks: scripts run without the guard, hence without its cost and without a test's time. */
  guard?: boolean;
}

type Item = { result: unknown } | { error: string };

const MAX_BODY = 10 * 1024 * 1024;
const METHODS = ["GET", "HEAD", "POST", "PUT"];

function toJson(reply: Reply, base64: boolean): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString(base64 ? "base64" : "utf8");
  if (reply instanceof ReplyError) return reply.message;
  return Array.isArray(reply) ? reply.map((item) => toJson(item, base64)) : reply;
}

function toItem(reply: Reply, base64: boolean): Item {
  if (reply instanceof ReplyError) return { error: reply.message };
  // The client knows a bare OK; every other string it decodes.
  const isOk = Buffer.isBuffer(reply) && reply.equals(Buffer.from("OK"));
  return { result: toJson(reply, base64 && !isOk) };
}

/** Runs what is asked on redis: one reply a command, or one error for a transaction that was discarded. */
class Executor {
  readonly redis: RespClient;
  readonly #dialect: Dialect;

  constructor(redisPort: number, guard: boolean) {
    this.redis = new RespClient(redisPort);
    this.#dialect = new Dialect(guard);
  }

  async run({ kind, commands }: Asked, before: Command[]): Promise<Reply[] | ReplyError> {
    const refused = commands.map(refusal);
    const atomic = kind === "multi-exec";
    const reason = refused.find((error) => error !== undefined);
    if (atomic && reason) return reason;
    const allowed = commands.filter((_, i) => !refused[i]);
    const stock = allowed.map((command) => this.#dialect.translate(command));
    const batch = atomic ? [["MULTI"], ...stock, ["EXEC"]] : stock;
    const replies = (await this.redis.send([...before, ...batch])).slice(before.length);
    const results = atomic ? replies.at(-1) : replies;
    if (!Array.isArray(results)) {
      return replies.find((reply) => reply instanceof ReplyError) ?? new ReplyError("ERR no reply");
    }
    let next = 0;
    return commands.map((command, i) => refused[i] ?? this.#dialect.reply(command, results[next++] ?? null));
  }
}

/** `{"kind": …, "ms"?, "times"?, "match"?: "EVALSHA"}`, or `{"clear": true}`: faults from another process. */
function control(double: UpstashDouble, body: Buffer, response: ServerResponse) {
  const json = parseJson(body) as Omit<UpstashFault, "match"> & { clear?: boolean; match?: string };
  const { clear, match, ...fault } = json;
  if (clear) double.clearFaults();
  else if (!KINDS.includes(fault.kind)) throw new BadRequest(`ERR kind is one of ${KINDS}`);
  else double.fault({ ...fault, match: ([name]) => !match || name?.toUpperCase() === match.toUpperCase() });
  sendJson(response, 200, { result: "OK" });
}

export async function startUpstash(options: UpstashOptions): Promise<UpstashDouble> {
  const { redisPort, port = 0, token = "local-token", guard = true } = options;
  const executor = new Executor(redisPort, guard);
  const faults = new Faults<UpstashFault["kind"], string[]>();

  const answer = async (request: IncomingMessage, response: ServerResponse, asked: Asked) => {
    const fault = await faults.take(asked.commands.map((command) => command.map(String)));
    if (fault === "drop_before") return void request.socket.destroy();
    if (fault === "html_500") {
      return void response
        .writeHead(500, { "content-type": "text/html" })
        .end("<html><body><h1>500 Internal Server Error</h1></body></html>");
    }
    if (fault === "too_many_requests") {
      return sendJson(response, 429, {
        error: "ERR max requests limit exceeded. Limit: 10000, Usage: 10001",
      });
    }
    const replies = await executor.run(asked, fault === "script_flush" ? [["SCRIPT", "FLUSH"]] : []);
    if (fault === "drop_after") return void request.socket.destroy();
    if (replies instanceof ReplyError) return sendJson(response, 400, { error: replies.message });
    const base64 = request.headers["upstash-encoding"] === "base64";
    const items = replies.map((reply) => toItem(reply, base64));
    if (asked.kind !== "single") return sendJson(response, 200, items);
    sendJson(response, items[0] && "error" in items[0] ? 400 : 200, items[0]);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    double.requests++;
    response.setHeader("upstash-sync-token", request.headers["upstash-sync-token"] ?? "");
    const body = await readBody(request, MAX_BODY);
    if (!METHODS.includes(request.method ?? ""))
      return sendJson(response, 405, { error: "ERR method not allowed" });
    const url = new URL(request.url ?? "/", "http://double");
    const bearer = /^Bearer (.*)$/i.exec(request.headers.authorization ?? "")?.[1];
    if ((bearer ?? url.searchParams.get("_token")) !== token) {
      return sendJson(response, 401, { error: "WRONGPASS invalid or missing auth token" });
    }
    if (!body)
      return sendJson(response, 413, { error: `ERR max request size exceeded. Limit: ${MAX_BODY} bytes` });
    try {
      if (url.pathname === "/__fault") return control(double, body, response);
      await answer(request, response, readRequest(request, url, body));
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      sendJson(response, 400, { error: error.message });
    }
  };

  const server = await serve(handle, port);
  const double: UpstashDouble = {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    token,
    requests: 0,
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    stop: async () => {
      await server.close();
      executor.redis.close();
    },
  };
  return double;
}
