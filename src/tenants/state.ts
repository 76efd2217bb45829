// The packed fields of a tenant's hash, read (lua/lib/{tenant,purse,token}.lua write them).
const PURSE = [
  "available",
  "held",
  "spent",
  "lapsed",
  "debt",
  "funded",
  "borrowed",
  "in_flight",
  "made",
] as const;
const STATE = ["seq", "subs", "open", "reserved", "refused"] as const;

/** Throws on a value that cannot be read; the value is not repeated. */
function unpack<F extends string>(text: string | null | undefined, fields: readonly F[], what: string) {
  const [version, ...values] = (text ?? "").split(" ").map(Number);
  if (version !== 1 || values.length !== fields.length) throw new Error(`${what} cannot be read`);
  return Object.fromEntries(fields.map((field, i) => [field, values[i]])) as Record<F, number>;
}

export const readPurse = (text: string | null | undefined) => unpack(text, PURSE, "a purse");
export const readTenantState = (text: string | null | undefined) => unpack(text, STATE, "a tenant's state");

/** A token without its hash. */
export function readTokens(text: string | null | undefined) {
  const [, ...lines] = (text ?? "").split("\n");
  return lines.map((line) => {
    const [token_id = "", , made_at_ms, ...name] = line.split(" ");
    return { token_id, name: name.join(" "), made_at_ms: Number(made_at_ms) };
  });
}
