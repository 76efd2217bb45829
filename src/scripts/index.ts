// Every script, by the name of its file. The contract test compares this list with the folder lua/.
import { admit } from "./call/admit.ts";
import { finish } from "./call/finish.ts";
import { renewCall } from "./call/renew.ts";
import { undoCall } from "./call/undo.ts";
import { putEntry } from "./catalog/put.ts";
import { removeEntry } from "./catalog/remove.ts";
import { create } from "./cell/create.ts";
import { probe } from "./cell/probe.ts";
import { allocate } from "./lease/allocate.ts";
import { release } from "./lease/release.ts";
import { renew } from "./lease/renew.ts";
import { undo } from "./lease/undo.ts";
import { freeLock } from "./lock/free.ts";
import { takeLock } from "./lock/take.ts";
import { configure } from "./pool/configure.ts";
import { mark } from "./pool/mark.ts";
import { patch } from "./pool/patch.ts";
import { put } from "./pool/put.ts";
import { reclaim } from "./pool/reclaim.ts";
import { remove } from "./pool/remove.ts";
import { revoke } from "./pool/revoke.ts";
import { verify } from "./pool/verify.ts";
import { adjust } from "./quota/adjust.ts";
import { expire } from "./quota/expire.ts";
import { extend } from "./quota/extend.ts";
import { refund } from "./quota/refund.ts";
import { reserve } from "./quota/reserve.ts";
import { settle } from "./quota/settle.ts";
import { voidHold } from "./quota/void.ts";
import { addToken } from "./tenant/add_token.ts";
import { putTenant } from "./tenant/put.ts";
import { putSubAccount } from "./tenant/put_sub.ts";
import { removeTenant } from "./tenant/remove.ts";
import { removeSubAccount } from "./tenant/remove_sub.ts";
import { revokeToken } from "./tenant/revoke_token.ts";

export const scripts = [
  admit,
  finish,
  renewCall,
  undoCall,
  putEntry,
  removeEntry,
  create,
  probe,
  allocate,
  release,
  renew,
  undo,
  takeLock,
  freeLock,
  configure,
  mark,
  patch,
  put,
  remove,
  revoke,
  reclaim,
  verify,
  adjust,
  expire,
  extend,
  refund,
  reserve,
  settle,
  voidHold,
  addToken,
  putTenant,
  putSubAccount,
  removeTenant,
  removeSubAccount,
  revokeToken,
] as const;
