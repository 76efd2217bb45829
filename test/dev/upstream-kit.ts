// Asks the demo upstream as a plain client does.
import type { Upstream } from "../../dev/upstream/server.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of many shapes, as a client's user does
type Json = any;

export function asker(upstream: () => Upstream) {
  return async (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) => {
    const response = await fetch(upstream().url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: "Bearer sk-demo-1", "content-type": "application/json", ...headers },
      redirect: "manual",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (isJson ? JSON.parse(text) : undefined) as Json,
    };
  };
}

/** The data of each event but the last `[DONE]`. */
export const eventsOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? ""));
