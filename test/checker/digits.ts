// No number has lost its digits: nowhere in a cell is there one like 1e+15.
import type { Cell } from "./keys.ts";
import type { Report } from "./words.ts";

const LOST = /(?<![\w+/=.-])-?\d+(\.\d+)?e\+\d+(?![\w+/=.-])/i;
/** Names and other free text are strings in JSON. */
const STRINGS = /"(?:[^"\\]|\\.)*"/g;

/** A hold's last part is the caller's metadata, a lease's last word its holder, a token's last words its name. */
const withoutFree = (kind: keyof Cell, text: string, field = "") => {
  if (kind === "hold") return text.split("\n").slice(0, 3).join("\n");
  if (kind === "lease") return text.slice(0, text.lastIndexOf(" "));
  return field.startsWith("tokens:") ? text.replace(/^(\S+ \S+ \d+) .*$/gm, "$1") : text;
};

function* textsOf(kind: keyof Cell, { value }: Cell[keyof Cell][number]): Generator<string> {
  if (typeof value === "string") yield withoutFree(kind, value);
  else if (value instanceof Map) {
    for (const [name, text] of value) {
      yield name;
      yield withoutFree(kind, text, name);
    }
  } else {
    for (const [, fields] of value)
      for (let i = 0; i < fields.length; i += 2) if (fields[i] !== "metadata") yield fields[i + 1] ?? "";
  }
}

export function checkDigits(cell: Cell, report: Report) {
  for (const kind of Object.keys(cell) as (keyof Cell)[]) {
    for (const key of cell[kind]) {
      for (const text of textsOf(kind, key)) {
        const lost = LOST.exec(text.replace(STRINGS, '""'));
        if (lost) report(`${key.name}: a number that has lost digits, ${lost[0]}`);
      }
    }
  }
}
