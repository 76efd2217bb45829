// JSON as text: what a caller sent goes on byte for byte, since parsing and writing it anew would lose digits.

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const COLON = ":".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const [BRACE, BRACKET] = ["{".charCodeAt(0), "[".charCodeAt(0)];
const [END_BRACE, END_BRACKET] = ["}".charCodeAt(0), "]".charCodeAt(0)];
const SPACE = new Set([..." \t\r\n"].map((char) => char.charCodeAt(0)));

/** A field of an object, and where its value stands in the text. */
export interface Field {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of text that another takes the place of; without length it is put in. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Behind the closing quote of the string that begins here. A quote behind an odd number of backslashes belongs to it. */
function stringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let before = quote;
    while (json.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return json.length;
}

function trimmed(json: string, name: string, from: number, to: number): Field {
  let [start, end] = [from, to];
  while (start < end && SPACE.has(json.charCodeAt(start))) start++;
  while (end > start && SPACE.has(json.charCodeAt(end - 1))) end--;
  return { name, start, end };
}

/** The fields of the outermost object of valid JSON, in order, each as often as it stands there. Linear, whatever the depth. */
export function fieldsOf(json: string): Field[] {
  const found: Field[] = [];
  let [depth, name, value_at] = [0, "", -1];
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === QUOTE) {
      const end = stringEnd(json, at);
      if (depth === 1 && value_at < 0) name = JSON.parse(json.slice(at, end));
      at = end - 1;
    } else if (char === BRACE || char === BRACKET) {
      depth++;
    } else if (char === COLON && depth === 1) {
      value_at = at + 1;
    } else if (char === COMMA || char === END_BRACE || char === END_BRACKET) {
      if (depth === 1 && value_at >= 0) found.push(trimmed(json, name, value_at, at));
      if (depth === 1) value_at = -1;
      if (char !== COMMA) depth--;
    }
  }
  return found;
}

/** The text of a field of the outermost object, as it stands in valid JSON; undefined when there is none. Of two the last counts. */
export function fieldText(json: string, name: string): string | undefined {
  const field = fieldsOf(json).findLast((each) => each.name === name);
  return field && json.slice(field.start, field.end);
}

/** An object as JSON with one more field, whose value is JSON text already. */
export const withFieldText = (object: object, name: string, text: string) =>
  `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(name)}:${text}}`;

/** What sets a field of the outermost object: each time that it stands there, else as a new first one. */
export function setField(json: string, name: string, text: string): Edit[] {
  const fields = fieldsOf(json);
  const named = fields.filter((field) => field.name === name);
  if (named.length > 0) return named.map(({ start, end }) => ({ start, end, text }));
  const at = json.indexOf("{") + 1;
  const added = `${JSON.stringify(name)}:${text}${fields.length > 0 ? "," : ""}`;
  return [{ start: at, end: at, text: added }];
}

/** The text with the edits made, which must not overlap; all else stays as it is. */
export function splice(json: string, edits: readonly Edit[]): string {
  let [made, done] = ["", 0];
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    made += json.slice(done, start) + text;
    done = end;
  }
  return made + json.slice(done);
}
