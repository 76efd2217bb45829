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

/** Fires the cron trigger as the platform does, and returns what the job said in its log line. */
export async function sweep(worker: Worker, cron = "* * * * *") {
  const before = worker.logs().length;
  const { status, body } = await worker.call(
    "GET",
    `/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`,
    {},
  );
  expect([status, body]).toEqual([200, "ok"]);
  const lines = worker.logs().slice(before);
  const [job] = lines.map(({ message }) => JSON.parse(message)).filter(({ event }) => event === "job");
  return job;
}
