// The benchmarks: `npm run bench` lists them, `npm run bench -- leases` runs one.
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Benchmark, Report } from "./lib/benchmark.ts";
import "./lib/lua-as-text.ts";
import { render, type Table } from "./lib/table.ts";

const benchmarks: Record<string, { about: string; load: () => Promise<Benchmark> }> = {
  leases: {
    about: "allocate, renew and release: cost, commands, growth, memory, and other ways to do it",
    load: () => import("./leases/index.ts"),
  },
  quota: {
    about:
      "reserve, settle and the other verbs of a hold: cost, commands, growth, memory, and other ways to do it",
    load: () => import("./quota/index.ts"),
  },
  gateway: {
    about: "a call through the gateway: time, commands, round trips, memory, beside a direct call and others",
    load: () => import("./gateway/index.ts"),
  },
  soak: {
    about: "five minutes of the gateway while callers leave, upstream fails and Redis stops; then the books",
    load: () => import("./soak/index.ts"),
  },
};

const USAGE = `npm run bench -- <name> [--quick] [--runs N] [--json FILE]

  --quick      smaller and fewer, for a look
  --runs N     rounds of each measurement: medians and ratios are taken over them
  --json FILE  every number of the report, round by round

Benchmarks:
${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join("\n")}
`;

class UsageError extends Error {}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
        runs: { type: "string" },
        json: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readArgs() {
  const { values, positionals } = parse();
  const { quick, json } = values;
  const runs = Number(values.runs ?? (quick ? 3 : 7));
  if (!Number.isInteger(runs) || runs < 1) throw new UsageError("--runs is a whole number from 1");
  if (positionals.length > 1) throw new UsageError("one benchmark at a time");
  return { name: positionals[0], quick, runs, json };
}

/** What was measured, on what. */
function save(
  file: string,
  name: string,
  quick: boolean,
  tables: readonly Table[],
  { redis, broken }: Report,
) {
  const machine = { cpus: availableParallelism(), node: process.version, redis };
  const taken_at = new Date().toISOString();
  writeFileSync(
    file,
    `${JSON.stringify({ benchmark: name, taken_at, quick, machine, broken, tables }, null, 2)}\n`,
  );
}

/** Its exit code: 1 when a bound is broken. */
async function main(): Promise<number> {
  const { name, quick, runs, json } = readArgs();
  if (name === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const benchmark = benchmarks[name];
  if (!benchmark) throw new UsageError(`there is no benchmark "${name}"`);
  const cleanup = new AsyncDisposableStack();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= cleanup.disposeAsync().finally(() => process.exit(130));
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const { run } = await benchmark.load();
    const tables: Table[] = [];
    const show = (table: Table) => {
      tables.push(table);
      process.stdout.write(`\n${render(table)}`);
    };
    const report = await run({
      quick,
      runs,
      cleanup,
      show,
      progress: (text) => console.error(`bench: ${text}`),
    });
    if (json) save(json, name, quick, tables, report);
    for (const bound of report.broken) console.error(`bench: ${bound}`);
    return report.broken.length > 0 ? 1 : 0;
  } catch (error) {
    await stopping; // what fails now fails because its servers are gone
    throw error;
  } finally {
    await cleanup.disposeAsync();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
