// How the checker reads packed words and JSON: every number exactly, and undefined where it cannot be read.
import { z } from "zod";

export type Report = (violation: string) => void;

export const MAX_AMOUNT = 9007199254740991n;

/** Words of packed numbers by name, behind the format's version. */
export function numbersOf<N extends string>(
  text: string | undefined,
  names: readonly N[],
): Record<N, bigint> | undefined {
  const [version, ...words] = (text ?? "").split(" ");
  if (version !== "1" || words.length !== names.length) return undefined;
  if (!words.every((word) => /^-?\d+$/.test(word))) return undefined;
  return Object.fromEntries(names.map((name, i) => [name, BigInt(words[i] ?? "")])) as Record<N, bigint>;
}

export const integerOf = (text: string | undefined) =>
  /^-?\d+$/.test(text ?? "") ? BigInt(text ?? "") : undefined;

/** JSON of this shape, or undefined. */
export function jsonOf<T>(text: string | undefined, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}

/** A number of JSON that lost no digit. */
export const exact = z.int().transform(BigInt);
export const amount = z.int().min(0).transform(BigInt);

export const sum = (numbers: Iterable<bigint>) => {
  let total = 0n;
  for (const number of numbers) total += number;
  return total;
};

export const least = (a: bigint, b: bigint) => (a < b ? a : b);

/** Things by what names them, in their order. */
export function groupBy<T>(things: Iterable<T>, nameOf: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const name = nameOf(thing);
    const group = groups.get(name);
    if (group) group.push(thing);
    else groups.set(name, [thing]);
  }
  return groups;
}
