// Lists in pages: who would miss a credential or a pool in a list, if these failed.
import { expect, test } from "vitest";
import { credential, useWorker } from "../support/worker.ts";

const worker = useWorker();

/** Names whose order differs by what stands between provider and pool. */
const PROVIDERS = ["a", "a-b", "a1", "B"];
const POOLS = ["x", "x.1", "x1"];

interface Named {
  readonly provider: string;
  readonly pool: string;
  readonly key_id?: string;
}

/** All pages of a list, in order. */
async function walk(path: string, what: "credentials" | "pools", limit: number) {
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await worker.admin("GET", `${path}?limit=${limit}${query}`);
    expect([status, body[what].length <= limit]).toEqual([200, true]);
    seen.push(...body[what].map(({ provider, pool, key_id = "" }: Named) => `${provider} ${pool} ${key_id}`));
    expect(seen.length).toBeLessThan(1000);
    cursor = body.next_cursor;
  }
  return seen;
}

test.each([1, 5])("%i a page: each once, whatever its name", async (limit) => {
  const names = PROVIDERS.flatMap((provider) => POOLS.map((pool) => ({ provider, pool })));
  const credentials = names.flatMap(({ provider, pool }) =>
    ["1", "10"].map((id) => {
      const key_id = `${pool}-${id}`;
      return credential(key_id, { provider, pool, secret: { api_key: `sk-${provider}-${key_id}` } });
    }),
  );
  const { body } = await worker.admin("POST", "/credentials", { credentials });
  expect(new Set(body.results.map(({ result }: { result: string }) => result))).toEqual(new Set(["created"]));

  const pools = await walk("/pools", "pools", limit);
  expect(pools.toSorted()).toEqual(names.map(({ provider, pool }) => `${provider} ${pool} `).toSorted());
  const all = await walk("/credentials", "credentials", limit);
  const wanted = credentials.map(({ provider, pool, key_id }) => `${provider} ${pool} ${key_id}`);
  expect(all.toSorted()).toEqual(wanted.toSorted());
});
