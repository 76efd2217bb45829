// `npm run dev`: starts the local stack, says what it is and how to try it, and ends all of it when it is ended.
import { gatewayLinesToTry, holdLinesToTry, linesToTry } from "./demo.ts";
import { optionsOf } from "./options.ts";
import { type Stack, startStack } from "./stack.ts";

const stopping = new AbortController();
const { signal } = stopping;
const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
let failed = false;

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopping.abort());
process.on("uncaughtException", (error) => {
  console.error(error);
  failed = true;
  stopping.abort();
});
// A closed terminal must not keep us from ending what we started.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});

function linesOf({ api, token }: Stack) {
  if (!token) return "";
  return `
To try it, paste these lines into a shell. Lease a credential, call upstream with it, give it back:

${linesToTry(api).join("\n")}

Hold an amount for a call, charge what it used, see what is left:

${holdLinesToTry(api).join("\n")}

Call through the gateway; any OpenAI or Anthropic SDK can be pointed at it, with the tenant's token as its key:

${gatewayLinesToTry(api, token).join("\n")}
`;
}

function describe(stack: Stack, dataDir: string) {
  const { api, upstash, neon, upstream, redis, token } = stack;
  return `
  API           ${api.url}    documentation ${api.url}/docs
  demo upstream ${upstream.url}    OpenAI and Anthropic dialects, keys sk-demo-...
  Upstash REST  ${upstash.url}    token ${upstash.token}
  Neon SQL      ${neon.url}    ${neon.connectionString}
  redis         127.0.0.1:${redis.port}
  data          ${dataDir}    emptied by npm run dev -- --fresh
  keys          internal ${api.internalKey}    admin ${api.adminKey}    metrics ${api.metricsKey}
  tenant        ${token ? `acme, sub-account alice, token ${token}` : "none"}
${linesOf(stack)}
Quartermaster is ready: ${api.url}`;
}

async function run() {
  const options = optionsOf(process.env, process.argv.slice(2));
  const stack = await startStack(options, { signal, log: console.log });
  try {
    console.log(describe(stack, options.dataDir));
    const reason = await Promise.race([stack.crashed, stopped.then(() => "")]);
    if (reason) throw new Error(reason);
  } finally {
    console.log("Stopping ...");
    await stack.stop();
  }
}

await run().catch((error) => {
  if (signal.aborted) return;
  console.error(`npm run dev: ${error.message}`);
  failed = true;
});
process.exit(failed ? 1 : 0);
