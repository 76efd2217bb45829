// One JSON line per event. Fields are ids, words and numbers; a secret, a body or an error's text is never one.
export type Fields = Record<string, string | number | boolean | undefined>;

export function log(level: "info" | "warn" | "error", event: string, fields: Fields = {}) {
  const line = JSON.stringify({ level, event, ...fields });
  if (level === "error") console.error(line);
  else console.log(line);
}
