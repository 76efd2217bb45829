// Overdue holds: what they keep is given back when somebody needs it, and by the sweep.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { expire } from "../scripts/quota/expire.ts";
import { runMany } from "../scripts/run.ts";
import { type Read, StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";

const MOST_TENANTS = 1_000;
const EVERY_MS = 1_000;

/** When this isolate last looked for a tenant's overdue holds: at most once a second. */
export class Overdue {
  private readonly looked = new Map<string, number>();

  claim(tenant: string): boolean {
    const since_ms = this.looked.get(tenant);
    if (since_ms !== undefined && Date.now() - since_ms < EVERY_MS) return false;
    this.looked.delete(tenant);
    this.looked.set(tenant, Date.now());
    const [oldest] = this.looked.keys();
    if (this.looked.size > MOST_TENANTS && oldest !== undefined) this.looked.delete(oldest);
    return true;
  }
}

interface Due {
  /** Which of the sets it is from. */
  readonly look: number;
  readonly tenant: string;
  readonly hold_id: string;
}

const texts = z.array(z.union([z.string(), z.number()]));

/** Where to look, and how many to leave out at the head: those that could not be read before. */
interface Look {
  readonly due_key: string;
  readonly skip?: number;
}

/** The holds whose deadline has passed, up to `most` of each set; by Redis' own clock, in one round trip. */
export async function readOverdue(
  { store }: Pick<Deps, "store">,
  looks: readonly Look[],
  most: number,
): Promise<Due[]> {
  const reads = looks.map(
    ({ due_key, skip = 0 }): Read =>
      (p) =>
        p.zrange(due_key, skip, skip + most - 1, { withScores: true }),
  );
  const [time, ...sets] = await store.read((p) => p.time(), ...reads);
  const [seconds = 0, micros = 0] = z.array(z.coerce.number()).parse(time);
  const now_ms = seconds * 1000 + Math.floor(micros / 1000);
  return sets.flatMap((set, look) => {
    const flat = texts.parse(set);
    return flat.flatMap((member, i) => {
      if (i % 2 === 1 || Number(flat[i + 1]) > now_ms) return [];
      const [what, tenant = "", hold_id = ""] = String(member).split(" ");
      return what === "hold" ? [{ look, tenant, hold_id }] : [];
    });
  });
}

/** Expires holds in one round trip. Those that cannot be read are left to the audit. */
export async function expireHolds(
  deps: Pick<Deps, "store" | "keys" | "settings" | "metrics">,
  due: readonly Due[],
) {
  const inputs = due.map(({ tenant, hold_id }) => ({
    keys: { ...deps.keys.tenant(tenant), hold_key: deps.keys.hold(tenant, hold_id) },
    args: { tenant, hold_id, keep_ms: deps.settings.HOLD_KEEP_MINUTES * MINUTE_MS },
  }));
  const replies = inputs.length > 0 ? await runMany(deps.store, expire, inputs) : [];
  for (const reply of replies) if ("kind" in reply && reply.kind === "expired") deps.metrics.hold(reply.kind);
  return replies;
}

const AT_ONCE = 32;

/** After a refusal of the hold `own`, which is left alone: whether something came back, so that it is worth asking once more. An outage leaves the refusal as it is. */
export async function expireOverdue(deps: Deps, tenant: string, own: string): Promise<boolean> {
  if (!deps.overdue.claim(tenant)) return false;
  try {
    const all = await readOverdue(deps, [deps.keys.tenant(tenant)], AT_ONCE);
    const due = all.filter((hold) => hold.tenant !== tenant || hold.hold_id !== own);
    const replies = await expireHolds(deps, due);
    return replies.some((reply) => !(reply instanceof Error) && reply.kind === "expired");
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}
