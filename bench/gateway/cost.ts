// What a call costs in the server: admit + finish beside a script that does nothing and the stack that one would put together.
import type { Options } from "../lib/benchmark.ts";
import { showCosts } from "../lib/cost.ts";
import type { Database } from "../lib/redis.ts";
import { callSubject, noopSubject, RENEWALS, stackSubject } from "./subjects.ts";

const AGAINST = [
  { at: 0, name: "no-op" },
  { at: 1, name: "stack" },
];

export async function cost(db: Database, options: Options) {
  const count = options.quick ? 500 : 2_000;
  await showCosts(db, options, {
    ...{ title: "What a call costs in the server", take: "admit", give: "finish", count, against: AGAINST },
    subjects: [
      noopSubject(db),
      stackSubject(db, "the stack"),
      await callSubject(db, "admit + finish, 6 candidates"),
      await callSubject(db, "the same, most of it borrowed", { borrowed: true }),
      await callSubject(db, "the same, 32 candidates", { candidates: 32 }),
    ],
    notes: [
      "the stack: @upstash/ratelimit's token bucket, a plain script that deducts and refunds, redis-semaphore: three keys, and nothing ties them; no health, no secret, no record of who has what",
    ],
  });
  await showCosts(db, options, {
    title: "What a stream of 60 seconds costs in the server",
    take: "admit + renew",
    give: "finish",
    ...{ count, against: AGAINST },
    subjects: [
      noopSubject(db),
      stackSubject(db, "the stack, its semaphore refreshed", RENEWALS),
      await callSubject(db, "admit + renew + finish", { renewals: RENEWALS }),
    ],
    notes: ["both are renewed once, after 40 seconds; the no-op is called twice, as above"],
  });
}
