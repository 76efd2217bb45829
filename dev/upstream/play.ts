// Writes an answer of the demo upstream piece by piece, and breaks off where it was told to.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Behaviour } from "./behave.ts";
import type { Call } from "./calls.ts";

/** Long enough for the bytes before a reset to arrive, since a reset overtakes them. */
const FLUSH_MS = 20;

export async function play(
  res: ServerResponse,
  call: Call,
  pieces: Iterable<string>,
  { kind, after, delay_ms }: Behaviour,
  errorEvent: () => string,
) {
  const fault = kind === "reset_midstream" || kind === "stall" || kind === "cut" || kind === "error_event";
  res.flushHeaders();
  for (const piece of pieces) {
    if (fault && call.events >= after) break;
    if (delay_ms > 0) await sleep(delay_ms);
    if (res.destroyed) return;
    call.events += 1;
    if (!res.write(piece)) await drained(res);
  }
  if (!fault) return res.end();
  if (kind === "stall") return;
  call.end = "broken";
  if (kind === "error_event") return res.end(errorEvent());
  if (kind === "cut") return res.end();
  await sleep(FLUSH_MS);
  res.socket?.resetAndDestroy();
}

/** Until there is room again, or the caller has left. */
async function drained(res: ServerResponse) {
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(res, "drain", { signal }), once(res, "close", { signal })]);
  settled.abort();
}
