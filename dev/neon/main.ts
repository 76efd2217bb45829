// The Neon double as its own process: node dev/neon/main.ts --port N --data-dir DIR
import { parseArgs } from "node:util";
import { startNeon } from "./server.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, "data-dir": { type: "string" } },
});

const dataDir = values["data-dir"];
const double = await startNeon({ port: Number(values.port), ...(dataDir ? { dataDir } : {}) });
const stop = () => double.stop().then(() => process.exit(0));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
console.log(double.url);
