// A RESP2 connection: exact integers, raw bytes, commands of one batch contiguous, and nothing is ever sent twice.
import { connect, type Socket } from "node:net";

export type Command = (string | Buffer)[];
export type Reply = Buffer | number | null | ReplyError | Reply[];

/** What redis answered, as against a redis that did not answer. */
export class ReplyError extends Error {}

interface Batch {
  left: number;
  replies: Reply[];
  resolve: (replies: Reply[]) => void;
  reject: (error: Error) => void;
}

function encode(commands: Command[]): Buffer {
  const parts: Buffer[] = [];
  for (const command of commands) {
    parts.push(Buffer.from(`*${command.length}\r\n`));
    for (const argument of command) {
      const bytes = Buffer.from(argument as string);
      parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n"));
    }
  }
  return Buffer.concat(parts);
}

/** Moves the cursor past one reply; undefined when its end has not arrived yet. */
function decode(bytes: Buffer, cursor: { at: number }): Reply | undefined {
  const end = bytes.indexOf("\r\n", cursor.at);
  if (end < 0) return undefined;
  const kind = String.fromCharCode(bytes[cursor.at] ?? 0);
  const line = bytes.subarray(cursor.at + 1, end);
  cursor.at = end + 2;
  if (kind === "+") return line;
  if (kind === "-") return new ReplyError(line.toString());
  const number = Number(line.toString());
  if (kind === ":") return number;
  if (number < 0) return null;
  if (kind === "$") {
    const start = cursor.at;
    cursor.at += number + 2;
    return cursor.at > bytes.length ? undefined : bytes.subarray(start, start + number);
  }
  const items: Reply[] = [];
  while (items.length < number) {
    const item = decode(bytes, cursor);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/** Connects when something is to be sent, so a restarted redis is found again and a dead one fails at once. */
export class RespClient {
  readonly #port: number;
  #socket: Socket | undefined;
  #waiting: Batch[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** Rejects when redis is not there; what redis itself refuses is a ReplyError among the replies. */
  send(commands: Command[]): Promise<Reply[]> {
    if (commands.length === 0) return Promise.resolve([]);
    this.#socket ??= this.#open();
    this.#socket.write(encode(commands));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ left: commands.length, replies: [], resolve, reject });
    });
  }

  close() {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, "127.0.0.1").setNoDelay();
    const waiting: Batch[] = [];
    this.#waiting = waiting;
    let pending = Buffer.alloc(0);
    let why = "redis closed the connection";
    const lost = () => {
      if (this.#socket === socket) this.#socket = undefined;
      for (const batch of waiting.splice(0)) batch.reject(new Error(why));
    };
    socket.on("data", (chunk) => {
      pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      const cursor = { at: 0 };
      let done = 0;
      for (let reply = decode(pending, cursor); reply !== undefined; reply = decode(pending, cursor)) {
        done = cursor.at;
        const batch = waiting[0];
        if (!batch) break;
        batch.replies.push(reply);
        if (--batch.left === 0) waiting.shift()?.resolve(batch.replies);
      }
      pending = pending.subarray(done);
    });
    socket.on("error", (error) => {
      why = error.message;
    });
    socket.on("end", lost);
    socket.on("close", lost);
    return socket;
  }
}
