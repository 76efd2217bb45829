// What the gateway changes in a request: spliced into the caller's own text, so that all else goes upstream byte for byte.
import { type Edit, type Field, fieldsOf, setField, splice } from "../json-text.ts";

export interface Changes {
  /** The model's name upstream. */
  readonly model?: string | undefined;
  /** Ask for the usage of a stream. */
  readonly include_usage?: boolean | undefined;
}

const ASKED = '{"include_usage":true}';

const shifted = (edits: readonly Edit[], by: number): Edit[] =>
  edits.map(({ start, end, text }) => ({ start: start + by, end: end + by, text }));

/** Other options of the stream stay; what is neither an object nor null is upstream's to refuse. */
function usageEdits(text: string, { start, end }: Field): Edit[] {
  const value = text.slice(start, end);
  if (value.startsWith("{")) return shifted(setField(value, "include_usage", "true"), start);
  return value === "null" ? [{ start, end, text: ASKED }] : [];
}

/**
 * A valid JSON object with the changes made. A field that stands there twice is changed twice: which of them counts is upstream's
 * parser's choice.
 */
export function rewriteRequest(text: string, { model, include_usage }: Changes): string {
  const named = model === undefined ? text : splice(text, setField(text, "model", JSON.stringify(model)));
  if (!include_usage) return named;
  const given = fieldsOf(named).filter(({ name }) => name === "stream_options");
  const edits = given.flatMap((field) => usageEdits(named, field));
  return splice(named, given.length > 0 ? edits : setField(named, "stream_options", ASKED));
}
