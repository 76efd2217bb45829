// Every script, by the name of its file. The contract test compares this list with the folder lua/.
import { create } from "./cell/create.ts";
import { probe } from "./cell/probe.ts";
import { allocate } from "./lease/allocate.ts";
import { release } from "./lease/release.ts";
import { renew } from "./lease/renew.ts";
import { undo } from "./lease/undo.ts";
import { put } from "./pool/put.ts";
import { remove } from "./pool/remove.ts";

export const scripts = [create, probe, allocate, release, renew, undo, put, remove] as const;
