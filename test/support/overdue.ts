// Holds that nobody ends: time in which they fall due, and the sweep that ends them.
import { expect } from "vitest";
import type { useWorker } from "./worker.ts";

type Worker = ReturnType<typeof useWorker>;
const BACK_MS = 90_000;

/**
 * Begins a little ago. Scripts see the time of the test, a plain TIME is the real one: what has fallen due by the test's time
 * has by both, and what is kept for an hour is still there.
 */
export const aWhileAgo = ({ redis }: Worker) => redis.at(Date.now() - BACK_MS);

/** Fires the cron trigger as the platform does, and returns what a job said in its log line. */
export async function fire(worker: Worker, name: string, cron = "* * * * *") {
  const before = worker.logs().length;
  const { status, body } = await worker.call(
    "GET",
    `/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`,
    {},
  );
  expect([status, body]).toEqual([200, "ok"]);
  const lines = worker.logs().slice(before);
  return lines
    .map(({ message }) => JSON.parse(message))
    .find(({ event, job }) => event === "job" && job === name);
}

export const sweep = (worker: Worker, cron?: string) => fire(worker, "sweep", cron);
