// A redis-server of the model's own. Scripts run over one socket with the production text; undeclared keys are refused.
import { createHash } from "node:crypto";
import { startRedis } from "../../dev/redis.ts";
import { Dialect } from "../../dev/upstash/dialect.ts";
import { type Command, type Reply, ReplyError, RespClient } from "../../dev/upstash/resp.ts";
import { type Evaluator, NoScript } from "../../src/scripts/evaluator.ts";

export type Text = string | number | null | Text[];

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

function textOf(reply: Reply): Text {
  if (reply instanceof ReplyError) throw reply;
  if (Array.isArray(reply)) return reply.map(textOf);
  return Buffer.isBuffer(reply) ? reply.toString() : reply;
}

export type Database = Awaited<ReturnType<typeof startDatabase>>;
export type ReclaimStep = keyof Database["evaluators"];

/** `watch`: what is read behind each script, in the same round trip. */
export async function startDatabase(watch: Command[]) {
  const server = await startRedis();
  const client = new RespClient(server.port);
  const dialect = new Dialect(true);
  const send = async (...commands: Command[]) => (await client.send(commands)).map(textOf);
  let watched: Text[] = [];
  const call = async (command: Command) => {
    const [reply, ...read] = await send(dialect.translate(command), ...watch);
    watched = read;
    return reply;
  };
  const evaluatorOf = (reclaim_step: number): Evaluator => {
    const running = new Map<string, string>();
    return {
      dialect: "upstash",
      async evalsha(sha, keys, args) {
        const own = running.get(sha);
        if (!own) throw new NoScript();
        return call(["EVALSHA", own, String(keys.length), ...keys, ...args]);
      },
      async eval(source, keys, args) {
        const text = source.replace("local RECLAIM = 64", `local RECLAIM = ${reclaim_step}`);
        running.set(sha1(source), sha1(text));
        return call(["EVAL", text, String(keys.length), ...keys, ...args]);
      },
    };
  };
  const evaluators = { 2: evaluatorOf(2), 64: evaluatorOf(64) };
  return {
    /** What the watched keys hold after the last script. */
    watched: () => watched,
    /** Plain commands, and what the watched keys hold then. */
    change: async (...commands: Command[]) => {
      const replies = await send(...commands, ...watch);
      watched = replies.slice(commands.length);
      return replies;
    },
    /** The production text with 64; with 2, `reclaim_due` happens in a short history. */
    evaluators,
    async stop() {
      client.close();
      await server.stop();
    },
  };
}
