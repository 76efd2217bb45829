// Neon's SQL over HTTP in front of PGlite: single statements, and batches in one transaction.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { messages, PGlite } from "@electric-sql/pglite";
import { type Fault, Faults, readBody, sendJson, serve } from "../double.ts";
import { execute, type Output, type Statement } from "./session.ts";

const KINDS = ["delay", "drop_before", "drop_after", "error_500"] as const;
export type NeonFault = Fault<(typeof KINDS)[number], string>;

export interface NeonDouble {
  /** The endpoint of `/sql`, for `neonConfig.fetchEndpoint`. */
  readonly url: string;
  readonly port: number;
  readonly connectionString: string;
  readonly database: PGlite;
  /** `match` sees the text of each statement. */
  fault(fault: NeonFault): void;
  clearFaults(): void;
  stop(): Promise<void>;
}

export interface NeonOptions {
  port?: number;
  /** Keeps the data here; without it everything is gone with the process. */
  dataDir?: string;
}

const MAX_BODY = 10 * 1024 * 1024;
const USER = "quartermaster";
const PASSWORD = "local-password";
const DATABASE = "quartermaster";
const ISOLATION: Record<string, string> = {
  ReadUncommitted: "READ UNCOMMITTED",
  ReadCommitted: "READ COMMITTED",
  RepeatableRead: "REPEATABLE READ",
  Serializable: "SERIALIZABLE",
};
const ERROR_FIELDS = [
  ...["code", "detail", "hint", "position", "internalPosition", "internalQuery", "severity", "where"],
  ...["table", "column", "schema", "dataType", "constraint", "file", "line", "routine"],
] as const;

/** A refusal that does not come from Postgres, in Neon's words. */
class Refused extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(message: string, status = 400, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function checkConnection(header: string | string[] | undefined) {
  if (typeof header !== "string") throw new Refused("invalid header: neon-connection-string");
  if (!URL.canParse(header)) throw new Refused("invalid connection string: relative URL without a base");
  const { protocol, username, password, hostname, pathname } = new URL(header);
  if (protocol !== "postgres:" && protocol !== "postgresql:") throw new Refused("incorrect scheme");
  const name = decodeURIComponent(pathname.slice(1));
  if (!name) throw new Refused("missing database name");
  if (!username) throw new Refused("missing username");
  if (!password) throw new Refused("missing authentication credentials: required password");
  if (!hostname) throw new Refused("missing hostname");
  if (decodeURIComponent(username) !== USER || decodeURIComponent(password) !== PASSWORD) {
    throw new Refused(`password authentication failed for user '${decodeURIComponent(username)}'`);
  }
  if (name !== DATABASE) throw new Refused(`database "${name}" does not exist`, 400, "3D000");
}

type Payload = { batch: false; statements: [Statement] } | { batch: true; statements: Statement[] };

function parse(body: Buffer): Payload {
  try {
    const json: Statement & { queries?: Statement[] } = JSON.parse(body.toString());
    const statements = json.queries ?? [json];
    if (statements.some(({ query, params = [] }) => typeof query !== "string" || !Array.isArray(params))) {
      throw new Error("data did not match any variant of untagged enum Payload");
    }
    return json.queries ? { batch: true, statements } : { batch: false, statements: [json] };
  } catch (error) {
    throw new Refused(`could not parse the HTTP request body: ${(error as Error).message}`);
  }
}

/** BEGIN with what the headers ask for. */
function begin(headers: IncomingHttpHeaders): string {
  const asked = headers["neon-batch-isolation-level"];
  const level = ISOLATION[String(asked)];
  if (asked && !level) throw new Refused("invalid isolation level");
  const modes = [
    level && `ISOLATION LEVEL ${level}`,
    headers["neon-batch-read-only"] === "true" && "READ ONLY",
    headers["neon-batch-deferrable"] === "true" && "DEFERRABLE",
  ];
  return `BEGIN ${modes.filter(Boolean).join(", ")}`;
}

/** One request is one session: whatever transaction it leaves open is rolled back. */
function run(database: PGlite, payload: Payload, headers: IncomingHttpHeaders) {
  const output: Output = {
    arrayMode: headers["neon-array-mode"] === "true",
    rawText: headers["neon-raw-text-output"] === "true",
  };
  const one = (statement: Statement) => execute(database, statement, output);
  const start = begin(headers);
  return database.runExclusive(async () => {
    try {
      if (!payload.batch) return await one(payload.statements[0]);
      await one({ query: start });
      const results = [];
      for (const statement of payload.statements) results.push(await one(statement));
      await one({ query: "COMMIT" });
      return { results };
    } finally {
      if (database.isInTransaction()) await one({ query: "ROLLBACK" });
    }
  });
}

function sendError(response: ServerResponse, error: unknown) {
  if (!(error instanceof messages.DatabaseError || error instanceof Refused)) throw error;
  const fields: Partial<Record<(typeof ERROR_FIELDS)[number], string | null | undefined>> = error;
  const status = error instanceof Refused ? error.status : 400;
  const details = Object.fromEntries(ERROR_FIELDS.map((field) => [field, fields[field] ?? null]));
  sendJson(response, status, { message: error.message, ...details });
}

export async function startNeon({ port = 0, dataDir }: NeonOptions = {}): Promise<NeonDouble> {
  const database = await PGlite.create(dataDir ? { dataDir } : {});
  const faults = new Faults<NeonFault["kind"], string>();

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    checkConnection(request.headers["neon-connection-string"]);
    const body = await readBody(request, MAX_BODY);
    if (!body) throw new Refused(`request is too large (max is ${MAX_BODY} bytes)`, 413);
    const payload = parse(body);
    const fault = await faults.take(payload.statements.map(({ query }) => query));
    if (fault === "drop_before") return void response.destroy();
    if (fault === "error_500") throw new Refused("internal error", 500);
    const result = await run(database, payload, request.headers);
    if (fault === "drop_after") return void response.destroy();
    sendJson(response, 200, result);
  };

  const server = await serve(async (request, response) => {
    if (request.method !== "POST" || request.url !== "/sql") {
      return void response.writeHead(400).end("query is not supported");
    }
    await answer(request, response).catch((error) => sendError(response, error));
  }, port);
  return {
    url: `http://127.0.0.1:${server.port}/sql`,
    port: server.port,
    connectionString: `postgresql://${USER}:${PASSWORD}@127.0.0.1:${server.port}/${DATABASE}`,
    database,
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    stop: async () => {
      await server.close();
      await database.close();
    },
  };
}
