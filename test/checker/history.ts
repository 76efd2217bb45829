// A rich history of a cell: everything that a ledger and a pool can come to, and what is left of it.
import { ledgerOf } from "../support/ledger.ts";
import { playLeases, playPools } from "./history-pools.ts";
import { type Redis, will } from "./will.ts";

const sha = (letter: string) => letter.repeat(64);

/** A tenant of which `old` is a sub-account that was removed and made again, and `again` a hold that was opened twice. */
async function playAgain(redis: Redis) {
  const acme = ledgerOf(() => redis.store(), "acme");
  await will("created", () => acme.put());
  for (const sub of ["app", "dept", "old"]) await will("created", () => acme.putSub(sub));
  await will(
    "adjusted",
    () => acme.adjust("", "g1", "grant", 1_000_000),
    () => acme.adjust("app", "g2", "grant", 5_000),
  );
  await will(
    "adjusted",
    () => acme.adjust("app", "g2", "grant", 5_000),
    () => acme.adjust("old", "g3", "set", 700),
  );
  await will(
    "added",
    () => acme.addToken("app", "t1", sha("a")),
    () => acme.addToken("app", "t2", sha("b"), "no 1e+15"),
  );
  await will(
    "added",
    () => acme.addToken("old", "t3", sha("c")),
    () => acme.addToken("app", "t4", sha("d")),
  );
  await will("revoked", () => acme.revokeToken("app", "t2"));
  await will(
    "reserved",
    () => acme.reserve("old", "again", 900),
    () => acme.reserve("app", "gone", 6_000),
  );
  await will(
    "settled",
    () => acme.settle("again", 450),
    () => acme.settle("gone", 5_500),
  );
  await will("refunded", () => acme.refund("gone", "r0", 600));
  await redis.later(61_000);
  await redis.raw.del(acme.hold_key("again"), acme.hold_key("gone")); // as if they had been kept for a minute
  await will("removed", () => acme.removeSub("old"));
  await will("created", () => acme.putSub("old", { max_concurrent: 1, borrow_cap: 300 }));
  await will(
    "adjusted",
    () => acme.adjust("old", "g4", "grant", 50),
    () => acme.adjust("app", "g5", "set", 2_000),
  );
  await will("reserved", () => acme.reserve("old", "again", 300, { metadata: "1e+15\nmore" }));
  await will("concurrency_limited", () => acme.reserve("old", "more", 1));
  await will("voided", () => acme.void("again"));
  await will("exhausted", () => acme.reserve("old", "more", 351));
  await will("reserved", () => acme.reserve("old", "h-old", 350));
}

/** The same tenant, with a hold that ended in each way, and one that is open. */
async function playHolds(redis: Redis) {
  const acme = ledgerOf(() => redis.store(), "acme");
  await will(
    "reserved",
    () => acme.reserve("app", "h-less", 3_000, { metadata: "m" }),
    () => acme.reserve("app", "h-more", 10),
  );
  await will(
    "settled",
    () => acme.settle("h-less", 2_600),
    () => acme.settle("h-more", 500),
  );
  await will(
    "refunded",
    () => acme.refund("h-less", "r1", 100),
    () => acme.refund("h-less", "r2", 700),
  );
  await will(
    "reserved",
    () => acme.reserve("dept", "h-expired", 100),
    () => acme.reserve("dept", "h-late", 100),
  );
  await will(
    "extended",
    () => acme.extend("h-expired", 1_000, 0, 70),
    () => acme.extend("h-late", 1_000, 200, 180),
  );
  await redis.later(121_000);
  await will(
    "expired",
    () => acme.expire("h-expired"),
    () => acme.expire("h-late"),
  );
  await will("settled", () => acme.settle("h-late", 60));
  await will(
    "reserved",
    () => acme.reserve("app", "h-void", 40),
    () => acme.reserve("app", "h-open", 4_000),
  );
  await will("voided", () => acme.void("h-void"));
  await will("extended", () => acme.extend("h-open", 500_000, 4_500, 20));
}

/** A tenant in debt, and one with as much as there can be. */
async function playOthers(redis: Redis) {
  const globex = ledgerOf(() => redis.store(), "globex");
  await will(
    "created",
    () => globex.put(),
    () => globex.putSub("poor"),
  );
  await will(
    "adjusted",
    () => globex.adjust("", "g1", "grant", 100),
    () => globex.adjust("poor", "g2", "grant", 50),
  );
  await will(
    "reserved",
    () => globex.reserve("poor", "h1", 120),
    () => globex.reserve("poor", "h2", 30),
  );
  await will("settled", () => globex.settle("h1", 400)); // a debt of 280
  await will("adjusted", () => globex.adjust("poor", "g3", "grant", 80)); // of 200
  await will("settled", () => globex.settle("h2", 10)); // of 180, or less
  await will("exhausted", () => globex.reserve("poor", "h3", 1));
  await will("refunded", () => globex.refund("h1", "r1", 5)); // of 195, and the account gets nothing
  await will("created", () => globex.putSub("late"));
  await will("reserved", () => globex.reserve("late", "h4", 20, { ttl_ms: 1_000 }));
  await will("extended", () => globex.extend("h4", 1_000, 0, 60));
  await redis.later(1_000);
  await will("expired", () => globex.expire("h4")); // a debt of 40
  await will("settled", () => globex.settle("h4", 10)); // of 0, and the account gets 10
  await will("updated", () => globex.put({ status: "frozen" }, '{"status":"active"}', "status"));
  const rich = ledgerOf(() => redis.store(), "rich");
  await will(
    "created",
    () => rich.put(),
    () => rich.putSub("s"),
  );
  await will(
    "adjusted",
    () => rich.adjust("", "g1", "grant", 2 ** 53 - 1),
    () => rich.adjust("", "g2", "deduct", 3),
  );
  await will("unsafe", () => rich.adjust("", "g3", "grant", 4));
  await will(
    "reserved",
    () => rich.reserve("s", "h1", 1e15),
    () => rich.reserve("s", "h2", 2 ** 52),
  );
  await will("settled", () => rich.settle("h1", 999_999_999_999_999));
}

/** A tenant that was removed and made again, and one that was removed for good. */
async function playRemoved(redis: Redis) {
  for (const name of ["phoenix", "gone"]) {
    const tenant = ledgerOf(() => redis.store(), name);
    await will(
      "created",
      () => tenant.put(),
      () => tenant.putSub("s"),
      () => tenant.putSub("empty"),
    );
    await will(
      "adjusted",
      () => tenant.adjust("s", "g1", "grant", 10),
      () => tenant.adjust("", "g2", "grant", 20),
    );
    await will("added", () => tenant.addToken("s", "t", sha(name === "gone" ? "e" : "f")));
    await will("reserved", () => tenant.reserve("s", "h", 15));
    await will("held", () => tenant.remove());
    await will("settled", () => tenant.settle("h", 12));
    await will("removed", () => tenant.remove());
    if (name === "phoenix")
      await will(
        "created",
        () => tenant.put(),
        () => tenant.putSub("s"),
      );
  }
}

export async function play(redis: Redis) {
  await playPools(redis);
  await playAgain(redis);
  await playHolds(redis);
  await playOthers(redis);
  await playRemoved(redis);
  await playLeases(redis);
}
