// An authorization server's token endpoint, on 127.0.0.1, that grants what it is told to.
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readBody, sendJson, serve } from "../../dev/double.ts";

export interface Asked {
  readonly method: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly form: Record<string, string>;
}
export interface Said {
  readonly status?: number;
  readonly body: unknown;
  readonly delay_ms?: number;
}

export async function startTokenEndpoint() {
  const asked: Asked[] = [];
  let said: (n: number) => Said;
  const endpoint = {
    asked,
    url: "",
    /** What it answers, to the first, the second, … request. */
    say: (answer: Said | ((n: number) => Said)) => {
      said = typeof answer === "function" ? answer : () => answer;
    },
    /** As a new one: tokens `at-1`, `at-2`, … of an hour, each with a new refresh token. */
    reset: () => {
      asked.length = 0;
      endpoint.say((n) => ({
        body: { access_token: `at-${n}`, refresh_token: `rt-${n}`, expires_in: 3600 },
      }));
    },
    stop: () => server.close(),
  };
  const server = await serve(async (req, res) => {
    const text = (await readBody(req, 10_000))?.toString() ?? "";
    asked.push({
      method: req.method,
      headers: req.headers,
      form: Object.fromEntries(new URLSearchParams(text)),
    });
    const { status = 200, body, delay_ms = 0 } = said(asked.length);
    await sleep(delay_ms);
    if (typeof body === "string") res.writeHead(status).end(body);
    else sendJson(res, status, body);
  }, 0);
  endpoint.url = `http://127.0.0.1:${server.port}/token`;
  endpoint.reset();
  return endpoint;
}
