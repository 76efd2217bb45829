// What a call should answer, and the entry that it should leave in the journal.
import type { Hold, Parts, Tenant } from "./model.ts";

export type Reply = { kind: string } & Record<string, unknown>;

export interface Entry {
  readonly tenant: Tenant;
  readonly kind: string;
  readonly actor: string;
  readonly sub_account?: string;
  readonly hold?: string;
  readonly op?: string;
  readonly amount?: bigint;
  readonly detail: object;
  readonly metadata?: string;
}
export interface Outcome {
  readonly reply: Reply;
  /** There is one when, and only when, something has changed that the journal tells. */
  readonly entry?: Entry;
}

/** A funding as JSON has it: what gave nothing is left out. */
export const rowsOf = ({ sub_account, account }: Parts): [string, number][] => [
  ...(sub_account > 0n ? [["sub_account", Number(sub_account)] as [string, number]] : []),
  ...(account > 0n ? [["account", Number(account)] as [string, number]] : []),
];

export const fundsOf = (parts: Parts) => rowsOf(parts).map(([source, amount]) => ({ source, amount }));

export const itemRows = ({ items }: Hold) =>
  items.map(({ model, amount, tokens, requests }) => [model, amount, tokens, requests]);

/** The entry of a hold's end, with its whole life. */
export function lifeOf(hold: Hold, kind: string, actor: string, amount: bigint): Entry {
  const { state, opened_at_ms, expires_at_ms, home, metadata, sub } = hold;
  const amounts = {
    held: Number(hold.amount),
    charged: Number(hold.charged),
    debt: Number(hold.debt),
    accrued: Number(hold.accrued),
  };
  const funds = {
    funding: rowsOf(hold.funding),
    paid: rowsOf(hold.paid),
    returned: rowsOf(hold.returned),
  };
  const detail = {
    state,
    ...amounts,
    ...funds,
    opened_at_ms,
    expires_at_ms,
    home,
    items: itemRows(hold),
    note: {},
  };
  return { tenant: sub.tenant, kind, actor, sub_account: sub.name, hold: hold.id, amount, detail, metadata };
}
