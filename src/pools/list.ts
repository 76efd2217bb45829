// Pages over all credentials, in order of provider, pool and key_id.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { compare, poolsOf } from "./names.ts";
import type { CredentialView } from "./schema.ts";
import { readCredentials } from "./view.ts";

export interface Page {
  readonly provider?: string | undefined;
  readonly pool?: string | undefined;
  readonly limit: number;
  /** Where the page before ended: `<provider>/<pool>/<key_id>`. */
  readonly cursor?: string | undefined;
}

/** Pools that one page looks into; an empty page with a cursor goes on from there. */
const POOLS_A_PAGE = 50;

export async function listCredentials(deps: Deps, page: Page) {
  const [after_provider = "", after_pool = "", after_id = ""] = (page.cursor ?? "").split("/");
  const credentials: CredentialView[] = [];
  const wanted = (await poolsOf(deps)).filter(
    ({ provider, pool }) =>
      (!page.provider || provider === page.provider) &&
      (!page.pool || pool === page.pool) &&
      compare([provider, pool], [after_provider, after_pool]) >= 0,
  );
  for (const { provider, pool } of wanted.slice(0, POOLS_A_PAGE)) {
    const from = compare([provider, pool], [after_provider, after_pool]) === 0 ? after_id : "";
    const ids = (await idsOf(deps, provider, pool)).filter((key_id) => key_id > from);
    const room = page.limit - credentials.length;
    credentials.push(...(await readCredentials(deps, provider, pool, ids.slice(0, room))));
    if (ids.length > room)
      return { credentials, next_cursor: `${provider}/${pool}/${ids[room - 1] ?? from}` };
  }
  const last = wanted[POOLS_A_PAGE - 1];
  const more = wanted.length > POOLS_A_PAGE && last;
  return { credentials, next_cursor: more ? `${last.provider}/${last.pool}/~` : null };
}

async function idsOf(deps: Deps, provider: string, pool: string): Promise<string[]> {
  const [fields] = await deps.store.read((p) => p.hkeys(deps.keys.pool(provider, pool).config_key));
  return z
    .array(z.string())
    .parse(fields ?? [])
    .filter((field) => !field.startsWith("@"))
    .sort();
}
