// What the cron trigger does, once a minute: a table of jobs, each idempotent and bounded.
import { depsOf } from "./deps.ts";
import { probeCredentials } from "./gateway/probe.ts";
import { mint } from "./ids.ts";
import { log } from "./log.ts";
import { refreshTokens } from "./pools/refresh.ts";
import { sweepLeases } from "./pools/sweep.ts";
import { sweepHolds } from "./quota/sweep.ts";
import { StoreUnavailable } from "./store.ts";

type Job = (deps: ReturnType<typeof depsOf>) => Promise<Record<string, number>>;

/** Every minute, in this order. */
const JOBS: Record<string, Job> = {
  /** What is overdue is given back: holds, then leases. */
  sweep: async (deps) => ({ ...(await sweepHolds(deps)), ...(await sweepLeases(deps)) }),
  /** OAuth tokens that end soon get a successor. */
  refresh: refreshTokens,
  /** Credentials that wait for it, or were not seen working for a day, are tried out. */
  probe: probeCredentials,
};

const EVERY_MINUTE = "* * * * *";

export async function runJobs(controller: ScheduledController, env: Env, context: ExecutionContext) {
  if (controller.cron !== EVERY_MINUTE) return log("warn", "unknown_cron", { cron: controller.cron });
  const deps = depsOf(env, context, mint("job"));
  for (const [job, run] of Object.entries(JOBS)) {
    const started_at_ms = Date.now();
    const report = await run(deps).catch((error: Error) => ({
      failed: error instanceof StoreUnavailable ? error.reason : error.name,
    }));
    log("info", "job", { job, ms: Date.now() - started_at_ms, ...report });
  }
}
