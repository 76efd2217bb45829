// The lists of models, and OpenAI's embeddings.
import { z } from "zod";
import { type Ask, parse, type Reply } from "./reply.ts";
import { CREATED, idOf, tokensOf } from "./text.ts";

const names = ["demo-chat-1", "demo-embed-1"];

export const openaiModels = (): Reply => ({
  json: {
    object: "list",
    data: names.map((id) => ({ id, object: "model", created: CREATED, owned_by: "demo" })),
  },
});

export const anthropicModels = (): Reply => ({
  json: {
    data: names.map((id) => ({
      type: "model",
      id,
      display_name: id,
      created_at: new Date(CREATED * 1000).toISOString(),
    })),
    has_more: false,
    first_id: names[0],
    last_id: names.at(-1),
  },
});

const request = z.looseObject({
  model: z.string(),
  input: z.union([
    z.string().min(1),
    z.array(z.string()).min(1),
    z.array(z.int()),
    z.array(z.array(z.int())),
  ]),
  dimensions: z.int().min(1).max(1536).nullish(),
  encoding_format: z.enum(["float", "base64"]).nullish(),
});

/** A vector of length 1 that depends on the text alone. */
function vectorOf(text: string, dimensions: number) {
  const seed = Buffer.from(idOf(text), "hex");
  const raw = Array.from({ length: dimensions }, (_, i) => ((seed[i % seed.length] ?? 0) - 127.5) / 127.5);
  const length = Math.hypot(...raw);
  return raw.map((value) => Math.fround(value / length));
}

export function embeddings({ body }: Ask): Reply {
  const { model, input, dimensions, encoding_format } = parse(request, body);
  const inputs: unknown[] = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
  const texts = inputs.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dimensions ?? 8);
    const packed = Buffer.from(Float32Array.from(vector).buffer).toString("base64");
    return { object: "embedding", index, embedding: encoding_format === "base64" ? packed : vector };
  });
  const tokens = tokensOf(texts.join(""));
  return { json: { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } } };
}
