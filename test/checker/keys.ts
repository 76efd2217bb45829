// What keys a cell may have: the pattern of each kind, its type, and whether it ends by itself.
export interface Shapes {
  string: string;
  hash: Map<string, string>;
  /** Member to score, both as text. */
  zset: Map<string, string>;
  stream: [id: string, fields: string[]][];
}
export type Type = keyof Shapes;

/** `state`: whether it ends is checked where its content is known. */
type Ends = "never" | "always" | "state";

const ID = "([A-Za-z0-9][A-Za-z0-9._-]{0,63})";
const SHARD = "(\\d|1[0-5])";

const kind = <T extends Type>(pattern: string, type: T, ends: Ends = "never") => ({
  pattern: new RegExp(`^${pattern}$`),
  type,
  ends,
});

export const KINDS = {
  meta: kind("meta", "hash"),
  tenants: kind("index:tenants", "zset"),
  pools: kind("index:pools", "hash"),
  catalog: kind("catalog", "hash"),
  tenant: kind(`tenant:${ID}`, "hash"),
  subs: kind(`tenant:${ID}:subs`, "zset"),
  hold: kind(`hold:${ID}:${ID}`, "string", "state"),
  op: kind(`op:${ID}:${ID}`, "string", "always"),
  due: kind(`due:${SHARD}`, "zset"),
  journal: kind(`journal:${SHARD}`, "stream"),
  pool: kind(`pool:${ID}:${ID}`, "hash"),
  config: kind(`pool:${ID}:${ID}:config`, "hash"),
  secrets: kind(`pool:${ID}:${ID}:secrets`, "hash"),
  leases: kind(`pool:${ID}:${ID}:leases`, "zset"),
  lease: kind(`lease:${ID}`, "string", "always"),
  lock: kind(`lock(?::${ID}){1,4}`, "string", "always"),
  provider: kind(`provider:${ID}`, "hash"),
  probe: kind("probe", "string", "always"),
  probe_stream: kind("probe:stream", "stream", "always"),
};
export type KindName = keyof typeof KINDS;

export interface Key<T extends Type> {
  /** Without the cell's prefix. */
  name: string;
  /** What the pattern captures. */
  ids: string[];
  /** -1: it does not end by itself. */
  end_ms: number;
  value: Shapes[T];
}
export type Cell = { [K in KindName]: Key<(typeof KINDS)[K]["type"]>[] };

/** The kind of a key by its name. */
export function kindOf(name: string): { kind: KindName; ids: string[] } | undefined {
  for (const kind of Object.keys(KINDS) as KindName[]) {
    const match = KINDS[kind].pattern.exec(name);
    if (match) return { kind, ids: match.slice(1) };
  }
  return undefined;
}
