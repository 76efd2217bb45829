// A tenant's hash: its fields, its purses, and who may open its sub-accounts.
import { z } from "zod";
import type { Key } from "./keys.ts";
import { jsonOf, MAX_AMOUNT, numbersOf, type Report } from "./words.ts";

const STATE = ["seq", "subs", "open", "reserved", "refused"] as const;
const AMOUNTS = [
  "available",
  "held",
  "spent",
  "lapsed",
  "debt",
  "funded",
  "borrowed",
  "in_flight",
  "made",
] as const;
export type Purse = Record<(typeof AMOUNTS)[number], bigint>;

interface Token {
  id: string;
  sha256: string;
  name: string;
}
export interface Tenant {
  name: string;
  state: Record<(typeof STATE)[number], bigint> | undefined;
  /** False for one that was removed: only its state is left. */
  exists: boolean;
  /** By field, `account` or `purse:<s>`; undefined: it cannot be read. */
  purses: Map<string, Purse | undefined>;
  /** Those with terms. */
  subs: Set<string>;
  tokens: Map<string, Token[]>;
  /** The sub-account that a token's SHA-256 opens. */
  opens: Map<string, string>;
}

const terms = z.looseObject({ status: z.enum(["active", "frozen"]) });

function tokensOf(where: string, text: string, report: Report): Token[] {
  const [version, ...lines] = text.split("\n");
  if (version !== "1") report(`${where}: cannot be read`);
  return lines.flatMap((line) => {
    const match = /^(\S+) (\S+) \d+ (.*)$/.exec(line);
    if (!match) report(`${where}: a line that is no token`);
    return match ? [{ id: match[1] ?? "", sha256: match[2] ?? "", name: match[3] ?? "" }] : [];
  });
}

function readField(tenant: Tenant, field: string, text: string, report: Report) {
  const where = `tenant:${tenant.name} ${field}`;
  const [kind = "", ...rest] = field.split(":");
  const name = rest.join(":");
  if (field === "state") tenant.state = numbersOf(text, STATE);
  else if (field === "config") tenant.exists = true;
  else if (field === "account" || (kind === "purse" && name)) {
    const purse = numbersOf(text, AMOUNTS);
    if (!purse) report(`${where}: a purse that cannot be read`);
    tenant.purses.set(field, purse);
  } else if (kind === "sub" && name) tenant.subs.add(name);
  else if (kind === "tokens" && name) tenant.tokens.set(name, tokensOf(where, text, report));
  else if (kind === "token" && name) tenant.opens.set(name, text);
  else report(`${where}: a field that is not known`);
  if ((field === "config" || kind === "sub") && !jsonOf(text, terms)) report(`${where}: has no status`);
}

export function tenantOf({ ids: [name = ""], value }: Key<"hash">, report: Report): Tenant {
  const tenant: Tenant = {
    ...{ name, state: undefined, exists: false, purses: new Map(), subs: new Set() },
    ...{ tokens: new Map(), opens: new Map() },
  };
  for (const [field, text] of [...value].sort(([a], [b]) => (a < b ? -1 : 1)))
    readField(tenant, field, text, report);
  if (!tenant.state) report(`tenant:${name}: no state that can be read`);
  if (tenant.exists && !tenant.purses.has("account")) report(`tenant:${name}: no account`);
  if (!tenant.exists && value.size > 1) report(`tenant:${name}: no config, and more than its state`);
  return tenant;
}

/** What is true of any purse at any time. */
export function checkPurse(where: string, purse: Purse, report: Report) {
  for (const name of AMOUNTS)
    if (purse[name] < 0n || purse[name] > MAX_AMOUNT)
      report(`${where}: ${name} is ${purse[name]}, not within 0 and 2^53-1`);
  const { available, held, spent, lapsed, debt, funded } = purse;
  const all = available + held + spent + lapsed - debt;
  if (all !== funded)
    report(`${where}: available + held + spent + lapsed - debt is ${all}, and ${funded} was funded`);
  if (available > 0n && debt > 0n) report(`${where}: has something available, and a debt`);
  if (where.endsWith(" account") && (debt > 0n || purse.borrowed > 0n || purse.in_flight > 0n))
    report(`${where}: an account has no debt, borrows nothing and opens no hold`);
}

/** Its sub-accounts are those of the list, each with terms and a purse. */
export function checkSubs(tenant: Tenant, listed: Map<string, string>, report: Report) {
  const where = `tenant:${tenant.name}`;
  const purses = new Set([...tenant.purses.keys()].flatMap((field) => field.split(":")[1] ?? []));
  for (const name of new Set([...listed.keys(), ...tenant.subs, ...purses])) {
    if (!listed.has(name)) report(`${where}: ${name} is not in the list of its sub-accounts`);
    if (!tenant.subs.has(name)) report(`${where}: ${name} has no terms`);
    if (!purses.has(name)) report(`${where}: ${name} has no purse`);
  }
  if (tenant.state && tenant.state.subs !== BigInt(listed.size))
    report(`${where}: has ${tenant.state.subs} sub-accounts, and ${listed.size} are listed`);
  for (const [name, score] of listed) if (score !== "0") report(`${where}: ${name} is listed with ${score}`);
}

/** Each token is in its sub-account's list, and opens that one. */
export function checkTokens(tenant: Tenant, report: Report) {
  const where = `tenant:${tenant.name}`;
  const listed = new Map<string, string>();
  for (const [sub, tokens] of tenant.tokens) {
    if (!tenant.subs.has(sub)) report(`${where}: tokens of ${sub}, which is no sub-account`);
    for (const part of ["id", "sha256", "name"] as const)
      if (new Set(tokens.map((token) => token[part])).size !== tokens.length)
        report(`${where}: two tokens of ${sub} have one ${part}`);
    for (const { id, sha256 } of tokens) {
      listed.set(sha256, sub);
      const opens = tenant.opens.get(sha256);
      if (opens !== sub) report(`${where}: token ${id} is of ${sub}, and opens ${opens ?? "nothing"}`);
    }
  }
  for (const [sha256, sub] of tenant.opens)
    if (!listed.has(sha256)) report(`${where}: a token opens ${sub}, and is in no list`);
}
