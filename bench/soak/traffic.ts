// Calls of every kind for a while: streams and not, both dialects, some left by their callers, an upstream and a Redis in trouble.
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Behave } from "../../dev/upstream/behave.ts";
import type { Upstream } from "../../dev/upstream/server.ts";

const CALLERS = 24;

interface Traffic {
  readonly seconds: number;
  readonly worker_url: string;
  readonly upstream: Upstream;
  readonly redis: Redis;
  readonly token: string;
}

/** What upstream does wrong, a few calls each. */
const TROUBLES: readonly Behave[] = [
  { kind: "server_error" },
  { kind: "rate_limited", retry_after: "1" },
  { kind: "reset" },
  { kind: "reset_midstream", after: 3 },
  { kind: "stall", after: 3 },
  { kind: "cut", after: 2 },
  { kind: "error_event", after: 2 },
  { kind: "error_body" },
  { usage: "none" },
  { usage: "cumulative", delay_ms: 5 },
  { output_tokens: 2_000 },
];

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

const ASKS = [
  { path: "/v1/chat/completions", body: { model: "demo-chat" } },
  { path: "/v1/chat/completions", body: { model: "demo-chat", stream: true } },
  {
    path: "/v1/chat/completions",
    body: { model: "demo-chat", stream: true, stream_options: { include_usage: true } },
  },
  { path: "/v1/messages", body: { model: "demo-claude", max_tokens: 200 } },
  { path: "/v1/messages", body: { model: "demo-claude", max_tokens: 200, stream: true } },
];

/** One call; one in five is left before it is whole. */
async function one({ worker_url, token }: Traffic): Promise<string> {
  const { path, body } = pick(ASKS);
  const leaving = Math.random() < 0.2 ? AbortSignal.timeout(Math.floor(Math.random() * 60)) : undefined;
  try {
    const reply = await fetch(worker_url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ...body, messages: [{ role: "user", content: "How many loaves?" }] }),
      ...(leaving ? { signal: leaving } : {}),
    });
    await reply.text();
    return String(reply.status);
  } catch {
    return leaving?.aborted ? "left by the caller" : "cut in the middle";
  }
}

/** How many calls were answered how. */
export async function traffic(how: Traffic): Promise<Record<string, number>> {
  const ends_at_ms = Date.now() + how.seconds * 1000;
  const counts: Record<string, number> = {};
  const calling = Array.from({ length: CALLERS }, async () => {
    while (Date.now() < ends_at_ms) {
      const answer = await one(how);
      counts[answer] = (counts[answer] ?? 0) + 1;
    }
  });
  const troubling = (async () => {
    while (Date.now() < ends_at_ms) {
      how.upstream.behave({ ...pick(TROUBLES), times: 3 });
      await sleep(100);
    }
    how.upstream.reset();
  })();
  const stopping = (async () => {
    while (Date.now() + 4_000 < ends_at_ms) {
      await sleep(3_000);
      await how.redis.call("CLIENT", "PAUSE", "1200", "ALL"); // longer than a round trip may take
    }
  })();
  await Promise.all([...calling, troubling, stopping]);
  return counts;
}
