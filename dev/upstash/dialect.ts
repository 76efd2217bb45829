// Upstash's dialect to stock Redis: the key-locking flag goes, the guard comes, hashes follow; and what REST refuses.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, type Reply, ReplyError } from "./resp.ts";

const KEY_LOCKING = "allow-key-locking";
/** One line, so that the line numbers in errors stay those of the script. */
const GUARD = readFileSync(join(import.meta.dirname, "guard.lua"), "utf8")
  .replace(/--.*$/gm, "")
  .replace(/\s+/g, " ");

/** They hold a connection or change its state; over HTTP every request is on its own. */
const REFUSED = new Set(
  `SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR MULTI EXEC DISCARD WATCH UNWATCH
  BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF
  AUTH HELLO SELECT QUIT RESET CLIENT SYNC PSYNC REPLCONF SHUTDOWN`.split(/\s+/),
);

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const word = (command: Command, index: number) => String(command[index] ?? "").toUpperCase();

export function refusal(command: Command): ReplyError | undefined {
  const name = word(command, 0);
  const blocks =
    /^XREAD(GROUP)?$/.test(name) && command.some((argument) => /^block$/i.test(String(argument)));
  if (!REFUSED.has(name) && !blocks) return undefined;
  return new ReplyError(`ERR Command is not available: '${name}'${blocks ? " with BLOCK" : ""}`);
}

export class Dialect {
  readonly #guard: string;
  readonly #stockSha = new Map<string, string>();

  constructor(guarded: boolean) {
    this.#guard = guarded ? GUARD : "";
  }

  /** The command as stock Redis takes it. */
  translate(command: Command): Command {
    const name = word(command, 0);
    if (name === "EVAL" || name === "EVAL_RO") return command.with(1, this.#stock(String(command[1] ?? "")));
    if (name === "EVALSHA" || name === "EVALSHA_RO") return command.with(1, this.#sha(command[1] ?? ""));
    if (name !== "SCRIPT") return command;
    if (word(command, 1) === "LOAD") return command.with(2, this.#stock(String(command[2] ?? "")));
    if (word(command, 1) === "EXISTS") {
      return command.map((argument, i) => (i < 2 ? argument : this.#sha(argument)));
    }
    return command;
  }

  /** SCRIPT LOAD answers the hash of the text as it was sent. */
  reply(command: Command, reply: Reply): Reply {
    const loaded = word(command, 0) === "SCRIPT" && word(command, 1) === "LOAD" && Buffer.isBuffer(reply);
    return loaded ? Buffer.from(sha1(String(command[2]))) : reply;
  }

  #sha(sent: string | Buffer) {
    return this.#stockSha.get(String(sent).toLowerCase()) ?? sent;
  }

  #stock(script: string): string {
    const [line, flagList] = /^#!lua flags=([\w,-]+)\n/.exec(script) ?? [""];
    const flags = flagList?.split(",") ?? [];
    if (!flags.includes(KEY_LOCKING)) return script;
    const others = flags.filter((flag) => flag !== KEY_LOCKING);
    const shebang = others.length > 0 ? `#!lua flags=${others}` : "";
    const stock = `${shebang}\n${this.#guard}${script.slice(line.length)}`;
    this.#stockSha.set(sha1(script), sha1(stock));
    return stock;
  }
}
