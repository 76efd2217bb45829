// How faults are planted in the raw keys of a cell, and how a played cell is brought back for the next one.
import type { Redis } from "ioredis";

const key = (name: string) => `{test}:${name}`;

export interface Saved {
  name: string;
  value: Buffer;
  end_ms: number;
}

export async function save(raw: Redis): Promise<Saved[]> {
  const names = await raw.keys(key("*"));
  return Promise.all(
    names.map(async (name) => {
      const [value, end_ms] = [await raw.dumpBuffer(name), await raw.pexpiretime(name)];
      return { name, value, end_ms: Math.max(0, end_ms) };
    }),
  );
}

export const restore = (raw: Redis, saved: Saved[]) =>
  Promise.all(saved.map(({ name, value, end_ms }) => raw.restore(name, end_ms, value, "ABSTTL")));

type Change = (text: string) => string;

/** Word `i` of a packed text, the version being 0, more by a number. */
export const more =
  (i: number, by: number | bigint): Change =>
  (text) => {
    const words = text.split(" ");
    words[i] = String(BigInt(words[i] ?? "") + BigInt(by));
    return words.join(" ");
  };

/** Another text in place of one that is there. */
export const swap =
  (from: string | RegExp, to: string): Change =>
  (text) =>
    text.replace(from, to);

/** A change that changes nothing would prove nothing. */
function changed(text: string | null | undefined, change: Change): string {
  const after = change(text ?? "");
  if (!text || after === text) throw new Error(`nothing is planted in ${text}`);
  return after;
}

export function planter(raw: Redis) {
  const entriesOf = async (name: string) => raw.xrange(key(name), "-", "+");
  const write = async (name: string, entries: [id: string, fields: string[]][]) => {
    await raw.del(key(name));
    for (const [id, fields] of entries) await raw.xadd(key(name), id, ...fields);
  };
  return {
    raw,
    key,
    field: async (name: string, field: string, change: Change) =>
      raw.hset(key(name), field, changed(await raw.hget(key(name), field), change)),
    text: async (name: string, change: Change) =>
      raw.set(key(name), changed(await raw.get(key(name)), change), "KEEPTTL"),
    drop: async (name: string, ...fields: string[]) => {
      const gone = fields.length > 0 ? await raw.hdel(key(name), ...fields) : await raw.del(key(name));
      if (gone !== Math.max(1, fields.length)) throw new Error(`nothing to drop of ${name}`);
    },
    dropMember: async (name: string, member: string) => {
      if ((await raw.zrem(key(name), member)) !== 1) throw new Error(`${name} has no ${member}`);
    },
    /** Changes a field of the entry of this number of an aggregate, in its stream. */
    entry: async (name: string, aggregate: string, seq: number, field: string, change: Change) => {
      let found = false;
      const entries = (await entriesOf(name)).map(([id, fields]): [string, string[]] => {
        if (fields[3] !== aggregate || fields[5] !== String(seq)) return [id, fields];
        const at = fields.indexOf(field) + 1;
        found = at > 0;
        return [id, fields.map((text, i) => (i === at ? changed(text, change) : text))];
      });
      if (!found) throw new Error(`${name} has no entry ${seq} of ${aggregate}`);
      await write(name, entries);
    },
    /** Takes an entry out; puts it in again at the end of a stream when one is named. */
    moveEntry: async (name: string, aggregate: string, seq: number, to?: string, keep = false) => {
      const entries = await entriesOf(name);
      const entry = entries.find(([, fields]) => fields[3] === aggregate && fields[5] === String(seq));
      if (!entry) throw new Error(`${name} has no entry ${seq} of ${aggregate}`);
      if (!keep) await raw.xdel(key(name), entry[0]);
      if (to) await raw.xadd(key(to), keep ? "*" : entry[0], ...entry[1]);
    },
  };
}
export type Planter = ReturnType<typeof planter>;

/** What is planted, how, and all that is said of it: each violation is one of these, and each of these is said. */
export type Fault = [what: string, how: (plant: Planter) => Promise<unknown>, ...said: RegExp[]];
