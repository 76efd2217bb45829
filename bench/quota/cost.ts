// What a hold costs: server time and throughput of reserve + settle, beside a script that does nothing, a rate limiter's token
// bucket, and a balance that is deducted and refunded.
import { reserve } from "../../src/scripts/quota/reserve.ts";
import { settle } from "../../src/scripts/quota/settle.ts";
import { run } from "../../src/scripts/run.ts";
import type { Options } from "../lib/benchmark.ts";
import { showCosts } from "../lib/cost.ts";
import { noop } from "../lib/noop.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import type { Subject } from "../lib/sample.ts";
import { AMOUNT, expecting, ledgerOf, newCell, newHoldId, PLENTY, subsOf, USED } from "./ledger.ts";
import { holds } from "./subject.ts";
import { bucketOn } from "./ways/bucket.ts";
import { balanceOn } from "./ways/prededuct.ts";

function noopSubject({ main }: Database): Subject {
  const store = evaluatorOn(main);
  const ledger = ledgerOf(store, newCell());
  const [taking, giving] = [noop("reserve-noop", reserve), noop("settle-noop", settle)];
  const [sub = ""] = subsOf(1);
  const hold_id = newHoldId();
  return {
    name: "no-op EVALSHA, twice",
    prepare: () => {},
    take: () => {
      const { keys, args } = ledger.asked(sub, hold_id);
      return run(store, taking, keys, args);
    },
    give: () => {
      const { keys, args } = ledger.used(hold_id);
      return run(store, giving, keys, args);
    },
  };
}

function bucketSubject({ main }: Database): Subject {
  const bucket = bucketOn(main, PLENTY);
  return {
    name: "@upstash/ratelimit: token bucket, take + give back",
    prepare: () => {},
    take: () => bucket.take("team", AMOUNT),
    give: () => bucket.give("team", AMOUNT - USED),
  };
}

function balanceSubject({ main }: Database): Subject {
  const balance = balanceOn(main, "cost");
  let ids: string[] = [];
  return {
    name: "plain script: deduct + refund",
    prepare: (count) => {
      ids = Array.from({ length: count }, newHoldId);
      return balance.put(PLENTY);
    },
    take: (i) => expecting("deducted", balance.deduct(ids[i] ?? "", AMOUNT)),
    give: (i) => balance.refund(ids[i] ?? "", AMOUNT - USED),
  };
}

export async function cost(db: Database, options: Options) {
  await showCosts(db, options, {
    title: "What a hold costs",
    take: "take",
    give: "end",
    subjects: [
      noopSubject(db),
      bucketSubject(db),
      balanceSubject(db),
      await holds(db, "reserve + settle"),
      await holds(db, "reserve + settle, borrowed", { funds: "borrowed" }),
      await holds(db, "reserve + settle, a pool named", { pool: true }),
      await holds(db, "reserve + settle, 16 models", { items: 16 }),
      await holds(db, "reserve + void", { end: "void" }),
    ],
    against: [
      { at: 0, name: "no-op" },
      { at: 1, name: "token bucket" },
      { at: 2, name: "plain script" },
    ],
    count: options.quick ? 500 : 2_000,
    notes: [
      "the token bucket is one key: no hold, no journal, the client's clock; giving back is a call of its own with a rate below zero",
      "the plain script is GET, compare, DECRBY, XADD, and INCRBY, XADD: a repeat deducts again, a refund can come twice, a lost caller's amount is gone",
    ],
  });
}
