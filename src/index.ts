// The Worker: requests to the app, the cron trigger to the jobs.
import { app } from "./app.ts";
import { runJobs } from "./jobs.ts";

export default {
  fetch: app.fetch,
  scheduled: (controller, env, context) => runJobs(controller, env, context),
} satisfies ExportedHandler<Env>;
