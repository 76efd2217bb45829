// The Upstash Redis REST API, and its key-locking dialect, in front of a real redis-server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, Faults, sendJson, serve } from "../double.ts";
import { Dialect, refusal } from "./dialect.ts";
import { type Asked, admit, parseJson, Refused, readRequest } from "./request.ts";
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

/** Runs what is asked on redis: one reply a command; a transaction that redis discards is refused whole. */
class Executor {
  readonly redis: RespClient;
  readonly #dialect: Dialect;

  constructor(redisPort: number, guard: boolean) {
    this.redis = new RespClient(redisPort);
    this.#dialect = new Dialect(guard);
  }

  async run({ kind, commands }: Asked, before: Command[]): Promise<Reply[]> {
    const refused = commands.map(refusal);
    const atomic = kind === "multi-exec";
    const reason = refused.find((error) => error !== undefined);
    if (atomic && reason) throw new Refused(reason.message);
    const allowed = commands.filter((_, i) => !refused[i]);
    const stock = allowed.map((command) => this.#dialect.translate(command));
    const batch = atomic ? [["MULTI"], ...stock, ["EXEC"]] : stock;
    const replies = (await this.redis.send([...before, ...batch])).slice(before.length);
    const results = atomic ? replies.at(-1) : replies;
    if (!Array.isArray(results)) {
      const cause = replies.find((reply) => reply instanceof ReplyError);
      throw new Refused(cause?.message ?? "ERR transaction discarded");
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
  else if (!KINDS.includes(fault.kind)) throw new Refused(`ERR kind is one of ${KINDS}`);
  else double.fault({ ...fault, match: ([name]) => !match || name?.toUpperCase() === match.toUpperCase() });
  sendJson(response, 200, { result: "OK" });
}

/** Answers in place of the command; false where the command is to be executed. */
function misbehave(fault: UpstashFault["kind"] | undefined, response: ServerResponse): boolean {
  if (fault === "drop_before") response.destroy();
  else if (fault === "html_500") {
    const page = "<html><body><h1>500 Internal Server Error</h1></body></html>";
    response.writeHead(500, { "content-type": "text/html" }).end(page);
  } else if (fault === "too_many_requests") {
    throw new Refused("ERR max requests limit exceeded. Limit: 10000, Usage: 10001", 429);
  } else return false;
  return true;
}

export async function startUpstash(options: UpstashOptions): Promise<UpstashDouble> {
  const { redisPort, port = 0, token = "local-token", guard = true } = options;
  const executor = new Executor(redisPort, guard);
  const faults = new Faults<UpstashFault["kind"], string[]>();

  const answer = async (asked: Asked, base64: boolean, response: ServerResponse) => {
    const fault = await faults.take(asked.commands.map((command) => command.map(String)));
    if (misbehave(fault, response)) return;
    const replies = await executor.run(asked, fault === "script_flush" ? [["SCRIPT", "FLUSH"]] : []);
    if (fault === "drop_after") return void response.destroy();
    const items = replies.map((reply) => toItem(reply, base64));
    if (asked.kind !== "single") return sendJson(response, 200, items);
    sendJson(response, items[0] && "error" in items[0] ? 400 : 200, items[0]);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    double.requests++;
    response.setHeader("upstash-sync-token", request.headers["upstash-sync-token"] ?? "");
    try {
      const { url, body } = await admit(request, token);
      if (url.pathname === "/__fault") return control(double, body, response);
      const base64 = request.headers["upstash-encoding"] === "base64";
      await answer(readRequest(request.method, url, body), base64, response);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      sendJson(response, error.status, { error: error.message });
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
