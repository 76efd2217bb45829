// What is sampled against what: a call, the same with a heartbeat, a script that does nothing, and the stack that one would put together.
import { admit } from "../../src/scripts/call/admit.ts";
import { finish } from "../../src/scripts/call/finish.ts";
import { run } from "../../src/scripts/run.ts";
import { noop } from "../lib/noop.ts";
import { idsOf } from "../lib/pool.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import { SENT, type Subject } from "../lib/sample.ts";
import { expecting, newCell, newOpId, PLENTY } from "../quota/ledger.ts";
import { admitted, cellOf, newCallId } from "./calls.ts";
import { stackOn } from "./stack.ts";

/** A stream of 60 seconds is renewed once, after 40. */
export const RENEWALS = 1;

export interface How {
  readonly renewals?: number;
  readonly candidates?: number;
  /** A little of each call is the sub-account's own, the rest the account's. */
  readonly borrowed?: boolean;
}

export function noopSubject({ main }: Database): Subject {
  const store = evaluatorOn(main);
  const { calls } = cellOf(store, newCell());
  const [taking, giving] = [noop("admit-noop", admit), noop("finish-noop", finish)];
  const candidates = idsOf(6);
  const [credential = ""] = candidates;
  const call_id = newCallId();
  return {
    name: "no-op EVALSHA, twice",
    prepare: () => {},
    take: () => {
      const { keys, args } = calls.asked(call_id, candidates);
      return run(store, taking, keys, args);
    },
    give: () => {
      const { keys, args } = calls.ended(call_id, credential);
      return run(store, giving, keys, args);
    },
  };
}

export function stackSubject({ main }: Database, name: string, renewals = 0): Subject {
  const stack = stackOn(main, newCell());
  let held: Awaited<ReturnType<typeof stack.take>>[] = [];
  return {
    name,
    sent: [...SENT, "zrem"],
    prepare: () => {
      held = [];
      return stack.open();
    },
    take: async (i) => {
      const one = await stack.take();
      held[i] = one;
      for (let n = 0; n < renewals; n++) await stack.refresh(one);
    },
    give: async (i) => {
      const one = held[i];
      if (one) await stack.give(one);
    },
  };
}

export async function callSubject(db: Database, name: string, how: How = {}): Promise<Subject> {
  const { ledger, pool, calls } = cellOf(evaluatorOn(db.main), newCell());
  const candidates = idsOf(how.candidates ?? 6);
  await ledger.put();
  await ledger.putSub(calls.sub_account);
  await ledger.adjust("", newOpId(), PLENTY);
  const fund = (amount: number) => ledger.adjust(calls.sub_account, newOpId(), amount, "set");
  await fund(PLENTY);
  await pool.fill(candidates, 10_000);
  let open: { call_id: string; credential: string }[] = [];
  return {
    name,
    prepare: async (count) => {
      open = Array.from({ length: count }, () => ({ call_id: newCallId(), credential: "" }));
      if (how.borrowed) await fund(count);
    },
    take: async (i) => {
      const one = open[i];
      if (!one) return;
      const at = i % candidates.length;
      const ranked = [...candidates.slice(at), ...candidates.slice(0, at)];
      ({ credential: one.credential } = await admitted(calls, one.call_id, ranked));
      for (let n = 0; n < (how.renewals ?? 0); n++)
        await expecting("renewed", calls.renew(one.call_id, one.credential));
    },
    give: async (i) => {
      const one = open[i];
      if (one) await expecting("finished", calls.finish(one.call_id, one.credential));
    },
  };
}
