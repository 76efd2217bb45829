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

export async function startDatabase() {
  const server = await startRedis();
  const client = new RespClient(server.port);
  const dialect = new Dialect(true);
  const send = async (...commands: Command[]) => (await client.send(commands)).map(textOf);
  const call = async (command: Command) => (await send(dialect.translate(command)))[0];
  return {
    /** Plain commands in one round trip. */
    send,
    /** The production text; a smaller `reclaim_step` makes `reclaim_due` happen in a short history. */
    evaluator(reclaim_step = 64): Evaluator {
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
    },
    async stop() {
      client.close();
      await server.stop();
    },
  };
}
