// One call as a client makes it, over connections that stay open, and what many of them take.
import { Agent, type IncomingMessage, request } from "node:http";
import { inParallel, quantile } from "../lib/timing.ts";

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly model: string;
}

export type Kind = "completion" | "stream";

export const bodyOf = ({ model }: Target, kind: Kind) =>
  JSON.stringify({
    ...{ model, max_tokens: 24 },
    ...(kind === "stream" ? { stream: true } : {}),
    messages: [
      { role: "system", content: "You keep the ration books of a bakery and answer in one sentence." },
      { role: "user", content: "How many loaves are left for the week, and who has had none so far?" },
    ],
  });

/** Resolves with the reply once its head is there. */
export function ask(target: Target, agent: Agent, body: string): Promise<IncomingMessage> {
  const headers = {
    ...{ "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    ...target.headers,
  };
  return new Promise((resolve, reject) => {
    const asked = request(
      `${target.url}/v1/chat/completions`,
      { method: "POST", agent, headers },
      (reply) => {
        if (reply.statusCode === 200) return resolve(reply);
        reply.resume();
        reject(new Error(`${target.name}: answered with ${reply.statusCode}`));
      },
    );
    asked.on("error", reject).end(body);
  });
}

/** When its first byte came, and when it was whole. */
async function timed(target: Target, agent: Agent, body: string) {
  const began = performance.now();
  const reply = await ask(target, agent, body);
  let first_ms: number | undefined;
  for await (const _ of reply) first_ms ??= performance.now() - began;
  return { first_ms: first_ms ?? Number.NaN, whole_ms: performance.now() - began };
}

export interface Sample {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly first_p50_ms: number;
  readonly first_p99_ms: number;
  readonly calls_per_s: number;
}

export async function measure(target: Target, kind: Kind, callers: number, count: number): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const body = bodyOf(target, kind);
  const [wholes, firsts]: [number[], number[]] = [[], []];
  const seconds = await inParallel(count, callers, async () => {
    const { first_ms, whole_ms } = await timed(target, agent, body);
    firsts.push(first_ms);
    wholes.push(whole_ms);
  });
  agent.destroy();
  return {
    p50_ms: quantile(wholes, 0.5),
    p99_ms: quantile(wholes, 0.99),
    first_p50_ms: quantile(firsts, 0.5),
    first_p99_ms: quantile(firsts, 0.99),
    calls_per_s: count / seconds,
  };
}
