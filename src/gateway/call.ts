// A call of the gateway, and what can become of it.
import type { CallRefusal } from "../calls/question.ts";
import type { Resolved } from "../catalog/catalog.ts";
import type { Deps } from "../deps.ts";
import type { Refusal } from "../leases/allocate.ts";
import type { Admission } from "./admission.ts";
import type { Caller } from "./caller.ts";
import type { Classified } from "./classify.ts";
import type { Dialect } from "./meter/dialect.ts";
import type { Relay } from "./relay.ts";
import type { GatewayRequest } from "./request.ts";
import type { Trail } from "./trail.ts";
import type { Failed } from "./upstream.ts";
import type { UpstreamPath } from "./upstream-url.ts";

export interface Serve {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly call_id: string;
  readonly request_id: string;
  readonly dialect: Dialect;
  readonly path: UpstreamPath;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly text: string;
  readonly request: GatewayRequest;
  readonly resolved: Resolved;
  readonly affinity_key: string | undefined;
  readonly wait_ms: number;
  /** Nothing is held or charged: a free question, such as how many tokens there are. */
  readonly free: boolean;
  readonly trail: Trail;
}

/** Upstream's refusal of one attempt. */
export interface Failure {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly verdict: Classified;
  readonly why: Failed | "answer";
  readonly secret: unknown;
}

export type Served =
  | {
      readonly kind: "relayed";
      readonly response: Response;
      readonly relay: Relay;
      readonly admission: Admission;
    }
  | { readonly kind: "failed"; readonly failure: Failure; readonly final: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal<CallRefusal> }
  | { readonly kind: "no_ceiling" };
