// JSON as text: what a caller sent goes on byte for byte, since parsing and writing it anew would lose digits.

/** Strings, which may contain what looks like structure, and structure. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/gs;

/** The text of a field of the outermost object, as it stands in valid JSON; undefined when there is none. Of two the last counts. */
export function fieldText(json: string, name: string): string | undefined {
  let [depth, key, value_at] = [0, "", -1];
  let found: string | undefined;
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth++;
    const ends = depth === 1 && (token === "," || token === "}");
    if (ends && value_at >= 0 && key === name) found = json.slice(value_at, index).trim();
    if (ends) value_at = -1;
    if (token === "}" || token === "]") depth--;
    if (depth === 1 && token === ":" && value_at < 0) value_at = index + 1;
    if (depth === 1 && token.startsWith('"') && value_at < 0) key = JSON.parse(token);
  }
  return found;
}

/** An object as JSON with one more field, whose value is JSON text already. */
export const withFieldText = (object: object, name: string, text: string) =>
  `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(name)}:${text}}`;
