// The demo upstream: speaks the OpenAI and the Anthropic dialect, and fails as it is told to.
import type { ServerResponse } from "node:http";
import { readBody, sendJson, serve } from "../double.ts";
import { type Behave, Behaviours } from "./behave.ts";
import { type Call, record } from "./calls.ts";
import { answerCall } from "./serve.ts";

export interface Upstream {
  url: string;
  port: number;
  behave(behave: Behave): void;
  /** Forgets behaviours and calls, and ends what hangs. */
  reset(): void;
  /** The latest calls, oldest first; an entry changes while its call runs. */
  calls: readonly Call[];
  stop(): Promise<void>;
}

const MOST_BODY_BYTES = 32 * 1024 * 1024;

export async function startUpstream({ port = 0 }: { port?: number } = {}): Promise<Upstream> {
  const behaviours = new Behaviours();
  const calls: Call[] = [];
  const open = new Set<ServerResponse>();
  const reset = () => {
    behaviours.clear();
    calls.length = 0;
    for (const res of open) res.destroy();
  };

  /** The same controls for tests of another process. */
  const controls: Record<string, (body: string) => unknown> = {
    "POST /__behave": (body) => behaviours.add(JSON.parse(body)),
    "POST /__reset": reset,
    "GET /__calls": () => ({ calls }),
  };

  const server = await serve(async (req, res) => {
    const text = (await readBody(req, MOST_BODY_BYTES))?.toString();
    const control = controls[`${req.method} ${req.url}`];
    if (text === undefined)
      return sendJson(res, 413, { error: { message: "the body is larger than 32 MB" } });
    if (control) return sendJson(res, 200, control(text) ?? {});
    open.add(res);
    res.on("close", () => open.delete(res));
    await answerCall({ req, res, text, call: record(calls, req, res, text), behaviours });
  }, port);
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    behave: (behave) => behaviours.add(behave),
    reset,
    calls,
    stop: () => server.close(),
  };
}
