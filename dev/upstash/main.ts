// The Upstash double as its own process: node dev/upstash/main.ts --redis-port N --port N --token T [--no-guard]
import { parseArgs } from "node:util";
import { startUpstash } from "./server.ts";

const { values } = parseArgs({
  options: {
    "redis-port": { type: "string", default: "6379" },
    port: { type: "string", default: "0" },
    token: { type: "string", default: "local-token" },
    "no-guard": { type: "boolean", default: false },
  },
});

const double = await startUpstash({
  redisPort: Number(values["redis-port"]),
  port: Number(values.port),
  token: values.token,
  guard: !values["no-guard"],
});
const stop = () => double.stop().then(() => process.exit(0));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
console.log(double.url);
