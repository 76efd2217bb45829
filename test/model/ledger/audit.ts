// What must be true of the raw keys after every step: what they hold, field by field, is what the model says.
import assert from "node:assert/strict";
import { purseOf } from "../../support/ledger.ts";
import { type Hold, type Ledger, MAX, type Purse, type Sub, type Tenant } from "./model.ts";
import { itemRows } from "./outcome.ts";
import { HOLD_KEYS, OP_KEYS, type View } from "./view.ts";

function purseText(ledger: Ledger, purse: Purse, borrowed: bigint, open: number) {
  const { available, held, spent, lapsed, debt, funded } = ledger.amounts(purse);
  return `1 ${available} ${held} ${spent} ${lapsed} ${debt} ${funded} ${borrowed} ${open} ${purse.made}`;
}

function subFields(ledger: Ledger, sub: Sub): [string, string][] {
  const { name, tokens } = sub;
  const lines = tokens?.map((token) => `\n${token.id} ${token.sha256} ${token.made_at_ms} ${token.name}`);
  return [
    [`sub:${name}`, sub.config],
    [`purse:${name}`, purseText(ledger, sub, ledger.borrowed(sub), ledger.open(sub).length)],
    ...(lines ? [[`tokens:${name}`, `1${lines.join("")}`] as [string, string]] : []),
    ...(tokens ?? []).map(({ sha256 }): [string, string] => [`token:${sha256}`, name]),
  ];
}

/** A tenant that was deleted leaves its state, one that never was leaves nothing. */
function tenantHash(ledger: Ledger, tenant: Tenant) {
  const { seq, reserved, refused, subs, config, account } = tenant;
  if (seq === 0) return {};
  const state = `1 ${seq} ${subs.size} ${ledger.open(tenant).length} ${reserved} ${refused}`;
  if (!config) return { state };
  const fields = [...subs.values()].flatMap((sub) => subFields(ledger, sub));
  return { config, state, account: purseText(ledger, account, 0n, 0), ...Object.fromEntries(fields) };
}

function holdText(hold: Hold) {
  const { state, sub, print, opened_at_ms, expires_at_ms, amount, accrued, funding, paid, returned } = hold;
  const parts = [funding, paid, returned].map(({ sub_account, account }) => `${sub_account} ${account}`);
  const refunds = hold.refunds.map(
    (one) => `["${one.op_id}",${one.amount},${one.returned.sub_account},${one.returned.account},${one.left}]`,
  );
  const first = `1 ${state} ${sub.name} ${sub.made} ${print} ${opened_at_ms} ${expires_at_ms} ${amount} ${accrued}`;
  const end = `${hold.end_print} ${hold.charged} ${hold.debt} ${hold.home}`;
  const lines = [JSON.stringify(itemRows(hold)), `[${refunds}]`, hold.metadata];
  return `${first} ${parts.join(" ")} ${end}\n${lines.join("\n")}`;
}

/** The books of each purse, by its own numbers only. */
function checkBooks(hash: Record<string, string>) {
  const purses = Object.entries(hash).filter(([field]) => field === "account" || field.startsWith("purse:"));
  for (const [field, text] of purses) {
    const [, ...digits] = text.split(" ");
    assert.deepEqual(digits.map(String), Object.values(purseOf(text)).map(String), "every digit is there");
    const [available = 0n, held = 0n, spent = 0n, lapsed = 0n, debt = 0n, funded = 0n] = digits.map(BigInt);
    assert.equal(available + held + spent + lapsed - debt, funded, `${field} balances`);
    assert(available === 0n || debt === 0n, `${field} never has something and owes something`);
    const all = digits.map(BigInt);
    assert(
      all.every((n) => n >= 0n && n <= MAX),
      `${field} is made of amounts`,
    );
  }
}

/** How many keys there should be, so that none is there that nobody looks at. */
function keysOf(ledger: Ledger, entries: number) {
  const tenants = [...ledger.tenants.values()];
  const some = (there: boolean) => (there ? 1 : 0);
  const made = tenants.filter(({ seq }) => seq > 0).length;
  const lists = tenants.filter(({ subs }) => subs.size > 0).length;
  const due = some(tenants.some((tenant) => ledger.open(tenant).length > 0));
  const index = some(tenants.some(({ config }) => config !== ""));
  return made + lists + due + index + some(entries > 0) + ledger.records.size + ledger.ops.size;
}

export function audit(ledger: Ledger, view: View, entries: number, others: number) {
  const tenants = [...ledger.tenants.values()];
  const open = [...ledger.records.values()].filter(({ state }) => state === "open");
  const due = open.map(({ sub, id, expires_at_ms }) => [`hold ${sub.tenant.name} ${id}`, `${expires_at_ms}`]);
  const subsOf = ({ subs }: Tenant) => Object.fromEntries([...subs.keys()].map((name) => [name, "0"]));
  const index = tenants.filter(({ config }) => config).map(({ name }) => [name, "0"]);
  const holds = [...ledger.records].map(([key, hold]) => [key, holdText(hold)]);
  const opText = (by: number, available: number, debt: number) => `${by} ${available} ${debt}`;
  const ops = [...ledger.ops].map(([key, { print, answer }]) => [
    key,
    `1 ${print} ${opText(answer.by, answer.available, answer.debt)}`,
  ]);
  const endOf = ({ kept_until_ms }: { kept_until_ms: number }) => (kept_until_ms === 0 ? -1 : kept_until_ms);
  const ends = [
    ...[...ledger.records].map(([id, hold]) => [HOLD_KEYS[id], endOf(hold)]),
    ...[...ledger.ops].map(([id, op]) => [OP_KEYS[id], endOf(op)]),
  ];
  const { last, ...found } = view;
  assert.deepEqual(found, {
    tenants: Object.fromEntries(tenants.map((tenant) => [tenant.name, tenantHash(ledger, tenant)])),
    subs: Object.fromEntries(tenants.map((tenant) => [tenant.name, subsOf(tenant)])),
    due: Object.fromEntries(due),
    index: Object.fromEntries(index),
    holds: Object.fromEntries(holds),
    ops: Object.fromEntries(ops),
    ends: Object.fromEntries(ends),
    entries,
    keys: keysOf(ledger, entries) + others,
  });
  for (const hash of Object.values(view.tenants)) checkBooks(hash);
}
