// The types that scripts share.
import { z } from "zod";
import { ID } from "../ids.ts";
import { json } from "./define.ts";

export const id = z.string().regex(ID);
/** One word: no space, so that it fits in a packed value. */
export const word = z.string().regex(/^\S+$/);
export const wordOrNone = z.string().regex(/^\S*$/);
export const text = z.string();
export const int = z.coerce.number().int().safe();
export const count = int.min(0);
/** A duration in milliseconds. */
export const ms = int.min(0);
export const flag = z.coerce.number().transform((n) => n === 1);
/** Of money: micros of the deployment's unit of value. */
export const amount = int.min(0);
/** JSON of an object, kept as it is: the caller's part of a journal entry. */
export const note = z.string().startsWith("{");
/** Which purses gave an amount, in the order in which it was drawn. */
export const SOURCES = ["sub_account", "account"] as const;
const row = z.tuple([z.enum(SOURCES), z.int().min(0)]);
export const funding = json(z.array(row)).transform((list) =>
  list.map(([source, part]) => ({ source, amount: part })),
);
export const HOLD_STATES = ["open", "settled", "voided", "expired"] as const;
export const closed = { state: z.enum(HOLD_STATES), charged: amount };
/** Why a sub-account draws nothing. */
export const drawRefusals = {
  frozen: { what: z.enum(["tenant", "sub_account"]) },
  exhausted: { scope: z.enum(["debt", "sub_account", "account"]), requested: amount, available: amount },
};
/** true or false in, 1 or 0 out. */
export const flagArg = z.boolean().transform((on) => (on ? 1 : 0));
