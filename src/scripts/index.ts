// Every script, by the name of its file. The contract test compares this list with the folder lua/.
import { create } from "./cell/create.ts";
import { probe } from "./cell/probe.ts";
import { allocate } from "./lease/allocate.ts";
import { release } from "./lease/release.ts";
import { renew } from "./lease/renew.ts";
import { undo } from "./lease/undo.ts";
import { configure } from "./pool/configure.ts";
import { mark } from "./pool/mark.ts";
import { patch } from "./pool/patch.ts";
import { put } from "./pool/put.ts";
import { remove } from "./pool/remove.ts";
import { revoke } from "./pool/revoke.ts";

export const scripts = [
  create,
  probe,
  allocate,
  release,
  renew,
  undo,
  configure,
  mark,
  patch,
  put,
  remove,
  revoke,
] as const;
