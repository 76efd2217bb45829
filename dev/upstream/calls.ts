// The demo upstream's bounded record of what arrived and how it ended.
import type { IncomingMessage, ServerResponse } from "node:http";

const MOST_CALLS = 2_000;
const MOST_BODY_CHARACTERS = 65_536;

export interface Call {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  /** Cut at 65,536 characters. */
  body: string;
  /** Pieces written so far: events of a stream. */
  events: number;
  /** aborted: the caller left before the end; broken: the upstream itself broke off, as it was told to. */
  end: "open" | "completed" | "aborted" | "broken";
}

export function record(calls: Call[], req: IncomingMessage, res: ServerResponse, body: string): Call {
  const { method = "", url: path = "", headers } = req;
  const call: Call = {
    method,
    path,
    headers,
    body: body.slice(0, MOST_BODY_CHARACTERS),
    events: 0,
    end: "open",
  };
  calls.push(call);
  if (calls.length > MOST_CALLS) calls.shift();
  res.on("close", () => {
    if (call.end === "open") call.end = res.writableFinished ? "completed" : "aborted";
  });
  return call;
}
