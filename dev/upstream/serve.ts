// One call to the demo upstream: key, behaviour, route, answer.
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson } from "../double.ts";
import type { Behaviour, Behaviours } from "./behave.ts";
import type { Call } from "./calls.ts";
import { chat } from "./chat.ts";
import { type Dialect, errorKinds, errorReply, Refusal } from "./errors.ts";
import { countTokens, messages } from "./messages.ts";
import { anthropicModels, embeddings, openaiModels } from "./models.ts";
import { play } from "./play.ts";
import { type Ask, data, event, type Reply } from "./reply.ts";
import { responses } from "./responses.ts";

const routes: Record<string, (ask: Ask, dialect: Dialect) => Reply> = {
  "POST /v1/chat/completions": chat,
  "POST /v1/responses": responses,
  "POST /v1/embeddings": embeddings,
  "POST /v1/messages": messages,
  "POST /v1/messages/count_tokens": countTokens,
  "GET /v1/models": (_, dialect) => (dialect === "anthropic" ? anthropicModels() : openaiModels()),
};

interface Arrived {
  req: IncomingMessage;
  res: ServerResponse;
  text: string;
  call: Call;
  behaviours: Behaviours;
}

export async function answerCall({ req, res, text, call, behaviours }: Arrived) {
  const path = new URL(call.path, "http://upstream").pathname;
  const dialect = dialectOf(path, req);
  const refuse = (refusal: Refusal, status?: number) => {
    const reply = errorReply(dialect, refusal);
    sendJson(res, status ?? reply.status, reply.json);
  };
  setHeaders(res, dialect);
  const api_key = keyOf(req);
  if (!api_key.startsWith("sk-demo-")) return refuse(new Refusal("auth_failed"));
  try {
    const body = parseJson(text);
    const behaviour = behaviours.take({ api_key, model: (body as { model?: string })?.model, path });
    if (misbehave(res, call, behaviour, refuse)) return;
    const route = routes[`${req.method} ${path}`];
    if (!route) throw new Refusal("not_found", `Invalid URL (${req.method} ${path})`);
    const reply = route({ text, body, behaviour }, dialect);
    const stream = "events" in reply;
    res.setHeader("content-type", stream ? "text/event-stream; charset=utf-8" : "application/json");
    const pieces = stream ? reply.events : halves(JSON.stringify(reply.json));
    await play(res, call, pieces, behaviour, () => errorEvent(dialect, path, call));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(error);
  }
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new Refusal("bad_request", "We could not parse the JSON body of your request.");
  }
}

const keyOf = ({ headers }: IncomingMessage) =>
  headers["x-api-key"]?.toString() ?? headers.authorization?.replace(/^Bearer /, "") ?? "";

function dialectOf(path: string, { headers }: IncomingMessage): Dialect {
  return path.startsWith("/v1/messages") || headers["anthropic-version"] ? "anthropic" : "openai";
}

/** Headers that the real services send; most of them are not for the callers of a gateway. */
function setHeaders(res: ServerResponse, dialect: Dialect) {
  res.setHeader("set-cookie", "__cf_bm=demo; path=/; HttpOnly; Secure");
  if (dialect === "anthropic") res.setHeader("anthropic-organization-id", "org-demo");
  else res.setHeader("openai-organization", "org-demo");
  res.setHeader(dialect === "anthropic" ? "request-id" : "x-request-id", "req_demo");
}

/** The behaviours that do not depend on what was asked. False: go on as usual. */
function misbehave(
  res: ServerResponse,
  call: Call,
  { kind, status, body, headers = {}, retry_after }: Behaviour,
  refuse: (refusal: Refusal, status?: number) => void,
): boolean {
  if (retry_after !== undefined) res.setHeader("retry-after", retry_after);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const error = errorKinds.find((each) => each === kind);
  if (kind === "reset") {
    call.end = "broken";
    res.socket?.resetAndDestroy();
  } else if (kind === "redirect") {
    res.writeHead(status ?? 307, { location: headers.location ?? "/v1/elsewhere" }).end();
  } else if (body !== undefined) {
    const usual = error ? errorReply("openai", new Refusal(error)).status : 200;
    res.writeHead(status ?? usual).end(body);
  } else if (kind === "error_body") {
    refuse(new Refusal("server_error"), status ?? 200);
  } else if (error) {
    refuse(new Refusal(error), status);
  } else return kind === "hang";
  return true;
}

function halves(text: string) {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function errorEvent(dialect: Dialect, path: string, { events }: Call) {
  const { json } = errorReply(dialect, new Refusal(dialect === "anthropic" ? "overloaded" : "server_error"));
  if ("type" in json) return event({ ...json, type: "error" });
  if (path !== "/v1/responses") return data(json);
  const { message } = json.error;
  return event({ type: "error", sequence_number: events, code: "server_error", message, param: null });
}
