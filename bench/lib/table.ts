// Tables: aligned text for people, and the same numbers for --json.
import type { Ratio } from "./timing.ts";

export type Cell = string | number | Ratio;

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** What a reader must know to read the numbers. */
  readonly notes: readonly string[];
}

/** Three digits that matter, and separators in large numbers. */
function digits(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return value.toFixed(Math.abs(value) >= 0.1 ? 2 : 3);
}

function show(cell: Cell): string {
  if (typeof cell === "string") return cell;
  if (typeof cell === "number") return digits(cell);
  const { median, rounds } = cell;
  return `${digits(median)} (${digits(Math.min(...rounds))} to ${digits(Math.max(...rounds))})`;
}

export function render({ title, columns, rows, notes }: Table): string {
  const texts = [columns, ...rows.map((row) => row.map(show))];
  const widths = columns.map((_, i) => Math.max(...texts.map((row) => row[i]?.length ?? 0)));
  const isNumeric = columns.map((_, i) => rows.some((row) => typeof row[i] !== "string"));
  const line = (row: readonly string[]) =>
    row
      .map((text, i) => (isNumeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  const [head = [], ...body] = texts;
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return `${[title, "", line(head), rule, ...body.map(line), ...notes.map((note) => `* ${note}`)].join("\n")}\n`;
}
