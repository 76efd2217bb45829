// What every route that leases answers when it is refused.
import type { Context } from "hono";
import type { App } from "../deps.ts";
import { fail } from "../errors.ts";
import { MINUTE_MS, retrySeconds } from "../units.ts";
import type { PoolRefusal } from "./question.ts";

/** What does not end by itself: until an operator has helped, asking every second is of no use. */
const FOR_OPERATORS = new Set(["auth_failed", "disabled", "pending", "removed", "token_expired"]);

const untilOperatorMs = (reasons: Record<string, number>) =>
  Object.keys(reasons).every((reason) => FOR_OPERATORS.has(reason)) ? MINUTE_MS : 0;

export function noCapacity(
  c: Context<App>,
  { due_in_ms, reasons }: { due_in_ms: number; reasons: Record<string, number> },
) {
  const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  return fail(c, "no_capacity", `nothing is free: ${counts.join(", ")}`, {
    reasons,
    retry_after_seconds: retrySeconds(due_in_ms || untilOperatorMs(reasons)),
  });
}

export const breakerOpen = (c: Context<App>, due_in_ms: number) =>
  fail(c, "breaker_open", "the pool's breaker is open", { retry_after_seconds: retrySeconds(due_in_ms) });

type Reason = Extract<PoolRefusal, { kind: "lease_lost" }>["reason"];

/** A caller's id was granted before, and that lease is over. */
export const leaseOver = (c: Context<App>, reason: Reason) =>
  fail(c, "lease_lost", `the lease of this id is over: ${reason}`, { reason });
