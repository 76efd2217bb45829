// What `npm run dev` can be told: by variables of the environment, and --fresh.
import { createServer } from "node:net";

const PORTS = {
  worker: ["PORT", 8787],
  rest: ["REST_PORT", 8079],
  sql: ["SQL_PORT", 8078],
  upstream: ["UPSTREAM_PORT", 8077],
  redis: ["REDIS_PORT", 8076],
} as const;
type Name = keyof typeof PORTS;
export type Ports = Record<Name, number>;

export type Environment = Record<string, string | undefined>;

export interface StackOptions {
  dataDir: string;
  ports: Ports;
  /** A variable of the Worker in it overrides the local default. */
  environment: Environment;
  fresh: boolean;
  demo: boolean;
  cron: boolean;
}

const names = Object.keys(PORTS) as Name[];

function portOf(name: Name, environment: Environment) {
  const [variable, usual] = PORTS[name];
  const port = Number(environment[variable] || usual);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${variable} is not a port: ${environment[variable]}`);
}

export function optionsOf(environment: Environment, args: string[]): StackOptions {
  const unknown = args.find((arg) => arg !== "--fresh");
  if (unknown) throw new Error(`unknown argument ${unknown}: there is only --fresh`);
  return {
    dataDir: environment.DATA_DIR || ".local",
    ports: Object.fromEntries(names.map((name) => [name, portOf(name, environment)])) as Ports,
    environment,
    fresh: args.includes("--fresh"),
    demo: environment.DEMO !== "0",
    cron: environment.CRON !== "0",
  };
}

/** Throws, and names every port that someone listens on, and the variable that changes it. */
export async function checkPorts(ports: Ports) {
  const tries = names.map(async (name) => {
    const server = createServer();
    const taken = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(true)).listen(ports[name], "127.0.0.1", () => resolve(false));
    });
    return { name, server, taken };
  });
  // All are held until the last was tried, so that one number given twice is found too.
  const tried = await Promise.all(tries);
  await Promise.all(tried.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  const taken = tried.filter((each) => each.taken).map(({ name }) => `${ports[name]} (${PORTS[name][0]})`);
  if (taken.length === 0) return;
  throw new Error(
    `taken: port ${taken.join(", ")}. End what listens there, or set the variable to a free port`,
  );
}
