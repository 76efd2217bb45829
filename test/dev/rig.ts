// A redis-server, the Upstash double before it, and the official client, built as the Worker builds it.
import { Redis } from "@upstash/redis";
import { type RedisServer, startRedis } from "../../dev/redis.ts";
import { startUpstash, type UpstashDouble, type UpstashOptions } from "../../dev/upstash/server.ts";
import { CLIENT } from "../../src/store.ts";

export const connect = (url: string, token: string, deadlineMs = 5_000) =>
  new Redis({
    url,
    token,
    ...CLIENT,
    signal: () => AbortSignal.timeout(deadlineMs),
  });

export interface Rig {
  redis: RedisServer;
  double: UpstashDouble;
  client: Redis;
  /** A bare request, with the token unless the headers say otherwise. */
  rest(path: string, init?: RequestInit): Promise<{ status: number; json: unknown; headers: Headers }>;
  stop(): Promise<void>;
}

export async function startRig(options: Omit<UpstashOptions, "redisPort"> = {}): Promise<Rig> {
  const redis = await startRedis();
  const double = await startUpstash({ ...options, redisPort: redis.port });
  return {
    redis,
    double,
    client: connect(double.url, double.token),
    rest: async (path, init = {}) => {
      const headers = { authorization: `Bearer ${double.token}`, ...init.headers };
      const response = await fetch(double.url + path, { ...init, headers });
      const text = await response.text();
      return { status: response.status, json: text && JSON.parse(text), headers: response.headers };
    },
    stop: async () => {
      await double.stop();
      await redis.stop();
    },
  };
}

export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
});
