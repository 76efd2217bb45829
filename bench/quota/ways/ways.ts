// Ways to spend prepaid funds, from no protection at all to ours.
import { type Connections, locked, watched } from "../../lib/callers.ts";
import { evaluatorOn } from "../../lib/redis.ts";
import { type Ledger, ledgerOf, newCell, newHoldId, newOpId, subsOf } from "../ledger.ts";
import { balanceOn } from "./prededuct.ts";
import type { Way } from "./way.ts";

const BALANCE = "ways:balance";
const LOCK = "ways:balance:lock";

const inKey = (name: string, connections: Connections, spend: Way["spend"]): Way => ({
  name,
  prepare: async (funds) => {
    await connections(0).del(LOCK);
    await connections(0).set(BALANCE, funds);
  },
  spend,
  left: async () => Number(await connections(0).get(BALANCE)),
});

/** Read, check, and then deduct: `deduct` is how. */
const unprotected =
  (connections: Connections, deduct: "SET" | "DECRBY"): Way["spend"] =>
  async (caller, amount) => {
    const redis = connections(caller);
    const left = Number(await redis.get(BALANCE)) - amount;
    if (left < 0) return false;
    await (deduct === "SET" ? redis.set(BALANCE, left) : redis.decrby(BALANCE, amount));
    return true;
  };

/** A ledger for each caller, all of one tenant that is new each time. */
function ours(
  name: string,
  connections: Connections,
  spend: (ledger: Ledger, amount: number) => Promise<boolean>,
): Way {
  const [sub = ""] = subsOf(1);
  let cell = "";
  let ledgers = new Map<number, Ledger>();
  const ledgerFor = (caller: number) => {
    const ledger = ledgers.get(caller) ?? ledgerOf(evaluatorOn(connections(caller)), cell);
    ledgers.set(caller, ledger);
    return ledger;
  };
  return {
    name,
    prepare: async (funds) => {
      cell = newCell();
      ledgers = new Map();
      await ledgerFor(0).put();
      await ledgerFor(0).putSub(sub);
      await ledgerFor(0).adjust(sub, newOpId(), funds);
    },
    spend: (caller, amount) => spend(ledgerFor(caller), amount),
    left: async () => {
      const answer = await ledgerFor(0).adjust(sub, newOpId(), 0);
      return answer.kind === "adjusted" ? answer.available - answer.debt : Number.NaN;
    },
  };
}

export function waysOf(connections: Connections): Way[] {
  const [sub = ""] = subsOf(1);
  const reserve = async (ledger: Ledger, hold_id: string, amount: number) =>
    (await ledger.reserve(sub, hold_id, amount)).kind === "reserved";
  return [
    inKey("GET, check, SET", connections, unprotected(connections, "SET")),
    inKey("GET, check, DECRBY", connections, unprotected(connections, "DECRBY")),
    inKey("WATCH, MULTI, EXEC", connections, (caller, amount) =>
      watched(connections(caller), BALANCE, (left) => (left < amount ? undefined : left - amount)),
    ),
    inKey("a lock (SET NX PX)", connections, (caller, amount) =>
      locked(connections(caller), LOCK, () => unprotected(connections, "DECRBY")(caller, amount)),
    ),
    plainScript(connections),
    ours("ours, reserve + settle", connections, async (ledger, amount) => {
      const hold_id = newHoldId();
      if (!(await reserve(ledger, hold_id, amount))) return false;
      return (await ledger.settle(hold_id, amount)).kind === "settled";
    }),
    ours("ours, reserve", connections, (ledger, amount) => reserve(ledger, newHoldId(), amount)),
  ];
}

function plainScript(connections: Connections): Way {
  const on = (caller: number) => balanceOn(connections(caller), "ways");
  return {
    name: "plain script: deduct",
    prepare: (funds) => on(0).put(funds),
    spend: async (caller, amount) => (await on(caller).deduct(newHoldId(), amount)).kind === "deducted",
    left: () => on(0).left(),
  };
}
