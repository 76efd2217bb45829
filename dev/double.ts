// What the doubles share: a local HTTP server, bounded bodies, and faults that tests switch on.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Fault<Kind extends string, Subject> {
  kind: Kind;
  /** Waits this long first; whoever hung up meanwhile is served all the same, as on a real network. */
  ms?: number;
  /** How many requests it hits; 1 by default. */
  times?: number;
  /** Which ones: a request counts when one of its commands or statements does. */
  match?: (subject: Subject) => boolean;
}

/** At most one fault hits a request: the oldest that matches and is not used up. */
export class Faults<Kind extends string, Subject> {
  #faults: { fault: Fault<Kind, Subject>; left: number }[] = [];

  add(fault: Fault<Kind, Subject>) {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  clear() {
    this.#faults = [];
  }

  /** The kind of fault for this request, after its wait. */
  async take(subjects: Subject[]): Promise<Kind | undefined> {
    const hit = this.#faults.find(
      ({ fault, left }) => left > 0 && subjects.some(fault.match ?? (() => true)),
    );
    if (!hit) return undefined;
    hit.left--;
    if (hit.fault.ms) await sleep(hit.fault.ms);
    return hit.fault.kind;
  }
}

/** The whole body, or undefined when it is above the limit; it is read to its end so that the reply arrives. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  return size <= limit ? Buffer.concat(chunks) : undefined;
}

export function sendJson(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves on 127.0.0.1; port 0 is any free one. A handler that throws is a bug of the double, and says so. */
export async function serve(handler: Handler, port: number) {
  const server = createServer((request, response) => {
    handler(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: `ERR ${error.message}`, message: error.message });
    });
  });
  // A connection closed just as its client reuses it looks like an outage; a full backlog delays it by a second.
  server.keepAliveTimeout = 600_000;
  server.listen({ port, host: "127.0.0.1", backlog: 4_096 });
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? new Error(`port ${port} is taken`) : error;
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
