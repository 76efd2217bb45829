// Redis as one request sees it: the Upstash client under the request's deadline, its errors turned into outages.
// The client's own messages contain all arguments, so none of them leaves this file.
import type { Redis } from "@upstash/redis/cloudflare";
import type { Dialect } from "./scripts/define.ts";
import { type BatchEvaluator, type Call, NoScript } from "./scripts/evaluator.ts";

/** A script failed inside Redis: a bug, or a stored value that cannot be read. Nothing was changed. */
export class ScriptFault extends Error {}

type OutageReason = "timeout" | "deadline" | "unreachable" | "garbled" | "refused" | "no_cell" | "dialect";

/** Redis did not answer in time, or failed. `maybe_applied`: the change may have happened. */
export class StoreUnavailable extends Error {
  readonly reason: OutageReason;
  readonly maybe_applied: boolean;
  /** What the caller is told beside the code; it may be shown. */
  readonly detail: string | undefined;

  constructor(reason: OutageReason, maybe_applied = false, detail?: string) {
    super(`store unavailable: ${reason}`);
    this.reason = reason;
    this.maybe_applied = maybe_applied;
    this.detail = detail;
  }
}

/** Refusals by which Redis or Upstash says that it did not execute the command. */
const NOT_EXECUTED =
  /^(OOM|READONLY|NOREPLICAS|LOADING|BUSY|MASTERDOWN|NOAUTH|WRONGPASS|NOPERM|MISCONF|TRYAGAIN|CLUSTERDOWN|Unauthorized)|limit exceeded/i;

function outageOf(error: unknown, changes: boolean): Error {
  if (!(error instanceof Error)) return new StoreUnavailable("unreachable", changes);
  if (error.name === "TimeoutError" || error.name === "AbortError")
    return new StoreUnavailable("timeout", changes);
  if (error.message.startsWith("Unable to parse")) return new StoreUnavailable("garbled", changes);
  if (error.name !== "UpstashError") return new StoreUnavailable("unreachable", changes);
  const [said = ""] = error.message.split(", command was:");
  return refusalOf(said, changes);
}

const WRONG_DIALECT = "this database refuses Upstash's key locking: set REDIS_DIALECT to redis";

/** What a script met inside comes behind where it met it. */
const INSIDE = /^ERR Error running script.*?@user_script:\s?\d+:\s*/i;

/** What Redis itself said of one command. Full or read-only it refuses a script's first write: nothing was changed. */
function refusalOf(said: string, changes: boolean): Error {
  if (NOT_EXECUTED.test(said.replace(INSIDE, ""))) return new StoreUnavailable("refused", false);
  if (said.startsWith("NOSCRIPT")) return new NoScript();
  if (said.includes("script shebang")) return new StoreUnavailable("dialect", false, WRONG_DIALECT);
  if (/user_script|(running|compiling) script|^WRONGTYPE/i.test(said))
    return new ScriptFault(said.slice(0, 200));
  return new StoreUnavailable("refused", changes);
}

/** How the client must be built: it never sends anything twice, and leaves every answer as Redis gave it. */
export const CLIENT = {
  retry: { retries: 0 },
  automaticDeserialization: false,
  enableAutoPipelining: false,
  enableTelemetry: false,
  readYourWrites: false,
} as const;

/** Time left for the Redis round trips of one request. */
export class Deadline {
  readonly ends_at_ms: number;
  private readonly timeout_ms: number;

  /** All round trips together, and each of them. */
  constructor(budget_ms: number, timeout_ms: number) {
    this.ends_at_ms = Date.now() + budget_ms;
    this.timeout_ms = timeout_ms;
  }

  /** For the client, once a round trip. */
  signal = () => AbortSignal.timeout(Math.max(1, Math.min(this.timeout_ms, this.ends_at_ms - Date.now())));
}

/** A command of a pipeline of plain reads. */
export type Read = (pipeline: ReturnType<Redis["pipeline"]>) => unknown;

export class Store implements BatchEvaluator {
  readonly dialect: Dialect;
  private readonly redis: Redis;
  private readonly deadline: Deadline;

  constructor(redis: Redis, dialect: Dialect, deadline: Deadline) {
    this.redis = redis;
    this.dialect = dialect;
    this.deadline = deadline;
  }

  evalsha = (sha: string, keys: string[], args: string[], changes: boolean) =>
    this.send(changes, () => this.redis.evalsha(sha, keys, args));

  eval = (source: string, keys: string[], args: string[], changes: boolean) =>
    this.send(changes, () => this.redis.eval(source, keys, args));

  /** One script with several sets of keys and arguments in one round trip; an answer each, or what became of it. */
  async evalshaMany(sha: string, calls: readonly Call[], changes: boolean): Promise<unknown[]> {
    const answers = await this.send(changes, () => {
      const pipeline = this.redis.pipeline();
      for (const { keys, args } of calls) pipeline.evalsha(sha, keys, args);
      return pipeline.exec({ keepErrors: true });
    });
    return answers.map(({ result, error }) => (error ? refusalOf(error, changes) : result));
  }

  /** Plain reads in one round trip; every answer as Redis gave it: text, lists of text, or null. */
  read(...reads: Read[]): Promise<unknown[]> {
    return this.send(false, () => {
      const pipeline = this.redis.pipeline();
      for (const read of reads) read(pipeline);
      return pipeline.exec<unknown[]>();
    });
  }

  private async send<T>(changes: boolean, request: () => Promise<T>): Promise<T> {
    if (Date.now() >= this.deadline.ends_at_ms) throw new StoreUnavailable("deadline");
    try {
      return await request();
    } catch (error) {
      throw outageOf(error, changes);
    }
  }
}
