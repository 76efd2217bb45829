// The bound of a prompt in tokens, without a tokenizer: half a token for each byte of its text; images are counted, not read.

export interface Prompt {
  readonly prompt_tokens: number;
  readonly images: number;
}

export type Fields = Record<string, unknown>;

/** What no model reads. All else counts, so that a field which is new tomorrow is not free. */
const NOT_CONTENT = new Set([
  "model",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "previous_response_id",
]);
/** Under these the caller's own JSON begins, of which the model reads the keys and the numbers too. */
const CALLERS_JSON = new Set([
  "tools",
  "functions",
  "response_format",
  "text",
  "output_config",
  "output_format",
]);
/** Parts of a conversation of which `input` is the caller's own JSON. */
const TOOL_USE = /tool_use$/;

const IMAGE_PARTS = new Set([
  "image",
  "image_url",
  "input_image",
  "computer_screenshot",
  "image_generation_call",
]);
const IMAGE_URI = /^data:image\//i;

const BYTES_A_TOKEN = 2;

const isImageUri = (value: unknown) => typeof value === "string" && IMAGE_URI.test(value);

/** An image part's field without the payload; whatever else is in it counts as text. */
function withoutPayload(part: Fields, key: string, value: unknown): unknown {
  if (key === "result" && part.type === "image_generation_call") return undefined;
  if (key !== "image_url" && key !== "source") return value;
  if (isImageUri(value)) return undefined;
  const fields = value as Fields | null;
  if (key === "image_url" && isImageUri(fields?.url)) return { ...fields, url: undefined };
  if (key === "source" && fields?.type === "base64") return { ...fields, data: undefined };
  return value;
}

/** `of_numbers`: the bytes that a number counts for; `whole`: keys and literals count as well. */
interface Visit {
  readonly value: unknown;
  readonly whole: boolean;
  readonly of_numbers: number;
}

function bytesOf({ value, whole, of_numbers }: Visit): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "number" && of_numbers > 0) return of_numbers;
  return whole && value !== undefined ? String(value).length : 0;
}

/** A stack of our own, since the depth is the caller's choice. */
function count(first: readonly Visit[]): Prompt {
  const stack = [...first];
  let [bytes, images] = [0, 0];
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    const { value, whole, of_numbers } = visit;
    if (typeof value !== "object" || value === null) {
      bytes += bytesOf(visit);
    } else if (Array.isArray(value)) {
      for (const each of value) stack.push({ value: each, whole, of_numbers });
    } else {
      const part = value as Fields;
      const isImage = IMAGE_PARTS.has(part.type as string) && !whole;
      if (isImage) images++;
      for (const key of Object.keys(part)) {
        if (whole) bytes += Buffer.byteLength(key);
        const read = isImage ? withoutPayload(part, key, part[key]) : part[key];
        const callers = key === "input" && TOOL_USE.test(String(part.type));
        stack.push({ value: read, whole: whole || callers, of_numbers });
      }
    }
  }
  return { prompt_tokens: Math.ceil(bytes / BYTES_A_TOKEN), images };
}

/** Of a parsed request. In `input` of embeddings a number is a token. */
export function promptOf(request: Fields, embeddings: boolean): Prompt {
  const fields = Object.keys(request).filter((key) => !NOT_CONTENT.has(key));
  return count(
    fields.map((key) => ({
      value: request[key],
      whole: CALLERS_JSON.has(key),
      of_numbers: embeddings && key === "input" ? BYTES_A_TOKEN : 0,
    })),
  );
}
