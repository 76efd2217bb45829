// The types that scripts share.
import { z } from "zod";
import { ID } from "../ids.ts";

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
/** true or false in, 1 or 0 out. */
export const flagArg = z.boolean().transform((on) => (on ? 1 : 0));
