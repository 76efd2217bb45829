// Builds the production bundle once, before the tests that run it.
import { execFileSync } from "node:child_process";

export default function build() {
  execFileSync("node_modules/.bin/wrangler", ["deploy", "--dry-run", "--outdir", "dist/worker"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
}
