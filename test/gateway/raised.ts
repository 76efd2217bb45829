// What a user of an official SDK has in hand when a call fails, and how many requests the SDK made for it.
import type Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect } from "vitest";
import { HELLO, type useGateway } from "./gateway-kit.ts";

/** An SDK's error, of either package. */
export interface Raised {
  readonly name: string;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly message: string;
  readonly param: string | undefined;
  /** The id that the SDK gives its user for a question to the operator. */
  readonly request_id: string | undefined;
  readonly headers: Headers;
  /** How many requests it was. */
  readonly requests: number;
}

/** Fails with what the SDK throws; an answer fails the test. */
export async function raised(ask: PromiseLike<unknown>, requests = 1): Promise<Raised> {
  const error = await Promise.resolve(ask).then(
    () => expect.fail("it was answered"),
    (thrown) => thrown,
  );
  const { status, code, type, message, param, requestID: request_id, headers } = error;
  // Both packages name the class, but OpenAI's keeps the type apart from Anthropic's.
  const named = error instanceof OpenAI.APIError ? type : (error.error?.error?.type ?? type);
  return {
    name: error.constructor.name,
    status,
    code,
    type: named,
    message,
    param,
    request_id,
    headers,
    requests,
  };
}

/** Both SDKs, as a user has them: two repeats, and a count of what they send. */
export function patientClients(gateway: ReturnType<typeof useGateway>, maxRetries = 2) {
  const count = () => {
    const sent = { requests: 0 };
    const counting = (...args: Parameters<typeof fetch>) => {
      sent.requests++;
      return fetch(...args);
    };
    return { sent, options: { maxRetries, fetch: counting } };
  };
  return {
    openai: async (more: object = {}, options: object = {}): Promise<Raised> => {
      const { sent, options: counted } = count();
      const client: OpenAI = gateway.openai({ ...counted, ...options });
      const error = await raised(
        client.chat.completions.create({ model: "demo-chat", messages: HELLO, ...more }),
      );
      return { ...error, ...sent };
    },
    anthropic: async (more: object = {}, options: object = {}): Promise<Raised> => {
      const { sent, options: counted } = count();
      const client: Anthropic = gateway.anthropic({ ...counted, ...options });
      const ask = { model: "demo-claude", max_tokens: 50, messages: HELLO, ...more };
      const error = await raised(client.messages.create(ask));
      return { ...error, ...sent };
    },
  };
}
