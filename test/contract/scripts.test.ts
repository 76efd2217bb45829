// A script and its typed twin must say the same: names and order of KEYS and ARGV, kinds of reply with their fields.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { z } from "zod";
import { scripts } from "../../src/scripts/index.ts";

const folders = readdirSync("lua").filter((folder) => folder !== "lib");
const withoutComments = (lua: string) => lua.replace(/--.*$/gm, "");

/** Splits at the commas outside brackets and quotes. */
function split(list: string): string[] {
  const parts: string[] = [];
  let [depth, quoted, part] = [0, false, ""];
  for (const c of list) {
    if (c === '"') quoted = !quoted;
    if (!quoted && "([{".includes(c)) depth++;
    if (!quoted && ")]}".includes(c)) depth--;
    if (c === "," && depth === 0 && !quoted) {
      parts.push(part.trim());
      part = "";
    } else part += c;
  }
  return part.trim() ? [...parts, part.trim()] : parts;
}

/** Kind and number of fields of every `reply("kind", …)`. */
function* repliesOf(lua: string) {
  for (const match of lua.matchAll(/\breply\("/g)) {
    let [depth, end] = [1, match.index + "reply(".length];
    const start = end;
    for (; depth > 0; end++) depth += lua[end] === "(" ? 1 : lua[end] === ")" ? -1 : 0;
    const [kind = "", ...fields] = split(lua.slice(start, end - 1));
    yield `${kind.slice(1, -1)} ${fields.length}`;
  }
}

/** The `local a, b = ARGV[1], tonumber(ARGV[2])` lines, as [name, right-hand side]. */
const unpacked = (lua: string, what: "KEYS" | "ARGV") =>
  [...lua.matchAll(/^local (.+?)\s*=\s*(.+)$/gm)]
    .filter(([, , right]) => right?.includes(`${what}[`))
    .flatMap(([, left, right]) => {
      const values = split(right ?? "");
      return (left ?? "").split(",").map((name, i) => [name.trim(), values[i] ?? ""] as const);
    });

/** The line of a script's header that says what a reply means: `-- kind  field field   meaning`. */
const documentedAs = (kind: string, fields: readonly string[]) =>
  new RegExp(`^-- ${kind}${fields.length > 0 ? ` {2,}${fields.join(" ")}` : ""}( {3,}\\S.*)?$`, "m");

for (const script of scripts) {
  const lua = readFileSync(`lua/${script.name}.lua`, "utf8");
  const code = withoutComments(lua);

  test(`${script.name}: keys and arguments`, () => {
    expect(unpacked(code, "KEYS").map(([name]) => name)).toEqual(script.keys);
    expect(unpacked(code, "ARGV").map(([name]) => name)).toEqual(Object.keys(script.args));
    for (const [i, [, right]] of unpacked(code, "KEYS").entries()) expect(right).toBe(`KEYS[${i + 1}]`);
    for (const [i, [, right]] of unpacked(code, "ARGV").entries()) expect(right).toContain(`ARGV[${i + 1}]`);
    for (const [name, type] of Object.entries(script.args)) {
      if ("columns" in type)
        expect(code, `${name} is read by its columns`).toContain(
          `, "${(type.columns as string[]).join(" ")}")`,
        );
    }
    for (const key of script.keys) {
      expect(code.split(new RegExp(`\\b${key}\\b`)).length, `${key} is used`).toBeGreaterThan(2);
      expect(lua, `${key} has its pattern in the header`).toMatch(new RegExp(`^-- .*\\b${key}\\b`, "m"));
    }
  });

  test(`${script.name}: replies`, () => {
    const declared = Object.entries(script.replies as Record<string, Record<string, z.ZodType>>);
    const returned = new Set(repliesOf(withoutComments(script.text.redis.source)));
    expect([...returned].sort()).toEqual(
      declared.map(([kind, fields]) => `${kind} ${Object.keys(fields).length}`).sort(),
    );
    for (const [kind, fields] of declared) expect(lua).toMatch(documentedAs(kind, Object.keys(fields)));
  });

  test(`${script.name}: the same text for both dialects, but for the line that locks keys`, () => {
    expect(script.text.upstash.source).toBe(`#!lua flags=allow-key-locking\n${script.text.redis.source}`);
    expect(script.text.upstash.sha).not.toBe(script.text.redis.sha);
  });

  test(`${script.name}: builds no key name and no amount by concatenation`, () => {
    const calls = [...code.matchAll(/redis\.p?call\("\w+", ([^,)]+)/g)];
    for (const [, key] of calls) expect(script.keys).toContain(key);
    expect(code).not.toMatch(/tostring\(|cjson\.encode/);
  });
}

test("every script is defined", () => {
  const files = folders.flatMap((folder) =>
    readdirSync(`lua/${folder}`).map((file) => `${folder}/${file.replace(".lua", "")}`),
  );
  expect(files.sort()).toEqual(scripts.map(({ name }) => name).sort());
});
