// Speaks to PGlite in the wire protocol, so that every value stays the text that Postgres wrote.
import { messages, type PGlite, protocol } from "@electric-sql/pglite";

export interface Statement {
  query: string;
  params?: unknown[];
  arrayMode?: boolean;
}

export interface Output {
  arrayMode: boolean;
  /** False turns booleans, small numbers and json into JSON values, as Neon does; its driver asks for text. */
  rawText: boolean;
}

type Text = string | null;

/** As Neon turns JSON parameters into Postgres text; within an array, text is quoted and null is NULL. */
function toText(value: unknown): Text {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  return Array.isArray(value) ? `{${value.map(toElement)}}` : JSON.stringify(value);
}

function toElement(value: unknown): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return toText(value) ?? "NULL";
  return typeof value === "object" ? JSON.stringify(JSON.stringify(value)) : JSON.stringify(value);
}

const BOOLEAN = 16;
const NUMBERS = [21, 23, 700, 701];
const JSONS = [114, 3802];

function toValue(text: Text, type: number): unknown {
  if (text === null) return null;
  if (type === BOOLEAN) return text === "t";
  if (NUMBERS.includes(type)) return Number.isFinite(Number(text)) ? Number(text) : text;
  return JSONS.includes(type) ? JSON.parse(text) : text;
}

/** The caller holds PGlite's lock. An SQL error is thrown with every field that Postgres sent. */
export async function execute(database: PGlite, { query, params = [], ...own }: Statement, output: Output) {
  const { serialize } = protocol;
  const request = Buffer.concat([
    serialize.parse({ text: query }),
    serialize.bind({ values: params.map(toText) }),
    serialize.describe({ type: "P" }),
    serialize.execute({}),
    serialize.sync(),
  ]);
  let fields: messages.RowDescriptionMessage["fields"] = [];
  let tag = "";
  const rows: Text[][] = [];
  for (const message of await database.execProtocolStream(request)) {
    if (message instanceof messages.RowDescriptionMessage) fields = message.fields;
    if (message instanceof messages.DataRowMessage) rows.push(message.fields);
    if (message instanceof messages.CommandCompleteMessage) tag = message.text;
  }
  const rowAsArray = own.arrayMode ?? output.arrayMode;
  const [command, ...counts] = tag.split(" ");
  const count = Number(counts.at(-1) ?? Number.NaN);
  return {
    command,
    rowCount: Number.isNaN(count) ? null : count,
    rowAsArray,
    fields: fields.map((field) => ({ ...field, format: "text" })),
    rows: rows.map((row) => {
      const values = row.map((text, i) =>
        output.rawText ? text : toValue(text, fields[i]?.dataTypeID ?? 0),
      );
      return rowAsArray ? values : Object.fromEntries(values.map((value, i) => [fields[i]?.name, value]));
    }),
  };
}
