// The dialects that a call through the gateway can be in, one for each path of the upstream.

export type Dialect = "openai_chat" | "openai_responses" | "openai_embeddings" | "anthropic_messages";
