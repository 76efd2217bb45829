// The journal over HTTP: a deduction that nobody can explain, or an entry that no page shows, if these failed.
import { beforeEach, expect, test } from "vitest";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { open, reserve, end, tenant, sub, adjust } = ledgerVerbsOf(worker);
const { add } = verbsOf(worker);
const { admin, call, redis } = worker;
useBooks(redis);

interface Entry {
  entry_id: string;
  seq: number;
  tenant: string | null;
  [field: string]: unknown;
}
const read = async (query = "") => (await admin("GET", `/journal${query}`)).body;
const kinds = async (query: string) => (await read(query)).entries.map(({ kind }: { kind: string }) => kind);

beforeEach(() => open(1000));

test("an entry says what was charged, to whom, from which purse, and by which request", async () => {
  await reserve("h1", 100, { model: "m" });
  const settled = await end("h1", "settle", { amount: 70, usage: { output_tokens: 3 } });
  const request_id = settled.headers.get("x-request-id");
  const { entries, next_cursor } = await read(`?request_id=${request_id}`);
  expect(next_cursor).toBeNull();
  expect(entries).toEqual([
    {
      entry_id: expect.stringMatching(/^\d+-\d+@\d+$/),
      ...{ kind: "settle", tenant: "acme", provider: null, pool: null, seq: 4, actor: "internal" },
      ...{ sub_account: "alice", hold_id: "h1", op_id: null, amount: 70, metadata: null },
      at: new Date(redis.now_ms).toISOString(),
      purses: [
        {
          purse: "account",
          change: { spent: 70, lapsed: 0, debt: 0, funded: 0 },
          after: { available: 930, held: 0, spent: 70, lapsed: 0, debt: 0, funded: 1000 },
        },
      ],
      detail: expect.objectContaining({
        ...{ state: "settled", held: 100, charged: 70, debt: 0 },
        note: { request_id, usage: { output_tokens: 3 } },
      }),
    },
  ]);
});

test("filters, alone and together", async () => {
  await add("key_01");
  await reserve("h1", 10);
  await reserve("h2", 10);
  await end("h1", "void");
  await end("h2", "settle", { amount: 1 });
  await adjust("account", "deduct", 1, "op-x");
  expect(await kinds("?tenant=acme")).toEqual(["adjust", "settle", "void", "adjust", "config", "config"]);
  expect(await kinds("?tenant=acme&kind=void")).toEqual(["void"]);
  expect(await kinds("?hold_id=h2")).toEqual(["settle"]);
  expect(await kinds("?op_id=op-x")).toEqual(["adjust"]);
  expect(await kinds("?sub_account=alice&kind=config")).toEqual(["config"]);
  expect(await kinds("?provider=openai&pool=default")).toEqual(["config"]);
  expect(await kinds("?provider=openai")).toEqual(["config"]);
  expect(await kinds("?tenant=nobody")).toEqual([]);
  expect(await kinds("?hold_id=h2&tenant=other")).toEqual([]);
});

test("case D36: metadata comes back byte for byte, and a sealed secret stays where it is", async () => {
  const metadata = '{"order":15947634569000323,"tags":[],"note":"é"}';
  const body = `{"hold_id":"h1","tenant":"acme","sub_account":"alice","amount":1,"metadata":${metadata}}`;
  await call("POST", "/api/internal/holds", { "x-internal-key": "test-internal-key" }, body);
  await end("h1", "void");
  const reply = await fetch(`${await worker.url()}/api/admin/journal?hold_id=h1`, {
    headers: { authorization: "Bearer test-admin-key" },
  });
  expect(await reply.text()).toContain(`"metadata":${metadata}}`);
  await add("key_01");
  const [{ detail }] = (await read("?provider=openai")).entries;
  expect([detail.change, detail.key_id, "sealed" in detail]).toEqual(["created", "key_01", false]);
});

test("pages over all shards: every entry once, newest first, also where many have one moment", async () => {
  for (let i = 0; i < 12; i++) {
    await tenant(`t${i}`);
    await sub("s", {}, `t${i}`);
  }
  const all: Entry[] = (await read("?limit=1000")).entries;
  expect(all.length).toBe(27);
  const paged: Entry[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: { entries: Entry[]; next_cursor: string | null } = await read(
      `?limit=4${cursor ? `&cursor=${cursor}` : ""}`,
    );
    paged.push(...page.entries);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all);
  const order = all.map(({ entry_id }) => Number(entry_id.split("-")[0]));
  expect(order).toEqual(order.toSorted((a, b) => b - a));
});

test("more entries than one round reads, with a filter that few of them pass", async () => {
  for (let i = 0; i < 25; i++)
    await Promise.all(Array.from({ length: 20 }, (_, n) => adjust("account", "grant", 1, `op-${i}-${n}`)));
  expect(await kinds("?tenant=acme&op_id=op-0-0")).toEqual(["adjust"]);
  const seqs = (await read("?tenant=acme&limit=1000")).entries.map(({ seq }: Entry) => seq);
  expect(seqs).toEqual(Array.from({ length: 503 }, (_, i) => 503 - i));
});

test.each([
  ["limit", "0"],
  ["limit", "1001"],
  ["cursor", "x"],
  ["kind", "reserve"],
  ["tenant", "a:b"],
])("%s=%s is refused", async (field, value) => {
  const { status, body } = await admin("GET", `/journal?${field}=${encodeURIComponent(value)}`);
  expect([status, body.errors?.[0]?.field]).toEqual([400, field]);
});
