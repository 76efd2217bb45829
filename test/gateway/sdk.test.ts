// The official SDKs, unchanged, through the gateway: a program that has to be rewritten, or is charged wrongly, if these failed.
import { expect, test } from "vitest";
import { FUNDS, HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway();

test("openai: a chat completion, charged by its usage", async () => {
  const answer = await gateway.openai().chat.completions.create({ model: "demo-chat", messages: HELLO });
  expect(answer.choices[0]?.message.content).toMatch(/\S/);
  const { prompt_tokens = 0, completion_tokens = 0 } = answer.usage ?? {};
  const [end] = await gateway.ends(1);
  expect(end).toMatchObject({ kind: "settle", amount: String(prompt_tokens * 2 + completion_tokens * 10) });
  expect(end?.detail.note).toMatchObject({ estimated: false, ended: "whole", model: "demo-chat" });
  expect((await gateway.account()).available).toBe(FUNDS - prompt_tokens * 2 - completion_tokens * 10);
});

test("openai: a stream, without the usage chunk that was not asked for, charged exactly", async () => {
  const stream = await gateway
    .openai()
    .chat.completions.create({ model: "demo-chat", messages: HELLO, stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks.every(({ usage, choices }) => !usage && choices.length > 0)).toBe(true);
  const [end] = await gateway.ends(1);
  expect(end?.detail.note).toMatchObject({ estimated: false, ended: "whole" });
  expect(Number(end?.amount)).toBeGreaterThan(0);
});

test("openai: a stream that asks for usage gets it", async () => {
  const stream = await gateway.openai().chat.completions.create({
    model: "demo-chat",
    messages: HELLO,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const usage = chunks.at(-1)?.usage;
  const [end] = await gateway.ends(1);
  expect(end?.amount).toBe(String((usage?.prompt_tokens ?? 0) * 2 + (usage?.completion_tokens ?? 0) * 10));
});

test("openai: responses, streamed and not, and embeddings", async () => {
  const client = gateway.openai();
  const answer = await client.responses.create({ model: "demo-chat", input: "How many loaves?" });
  expect(answer.output_text).toMatch(/\S/);
  const stream = await client.responses.create({ model: "demo-chat", input: "How many?", stream: true });
  const types = [];
  for await (const event of stream) types.push(event.type);
  expect(types.at(-1)).toBe("response.completed");
  const embedded = await client.embeddings.create({ model: "demo-embed", input: ["a", "b"] });
  expect(embedded.data.length).toBe(2);
  const ends = await gateway.ends(3);
  expect(ends.map(({ detail }) => detail.note.estimated)).toEqual([false, false, false]);
});

test("openai: the models that this token may call", async () => {
  const ids = [];
  for await (const { id } of gateway.openai().models.list()) ids.push(id);
  expect(ids).toEqual(["demo-chat", "demo-claude", "demo-embed"]);
});

test("anthropic: a message, streamed and not, and a count of tokens that costs nothing", async () => {
  const client = gateway.anthropic();
  const ask = { model: "demo-claude", max_tokens: 100, messages: HELLO };
  const answer = await client.messages.create(ask);
  expect(answer.content[0]).toMatchObject({ type: "text" });
  const final = await client.messages.stream(ask).finalMessage();
  const counted = await client.messages.countTokens({ model: "demo-claude", messages: HELLO });
  expect(counted.input_tokens).toBeGreaterThan(0);
  const ends = await gateway.ends(3);
  const cost = ({ usage }: typeof answer) => String(usage.input_tokens * 2 + usage.output_tokens * 10);
  expect(ends.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["settle", cost(answer)],
    ["settle", cost(final)],
    ["void", "0"],
  ]);
});
