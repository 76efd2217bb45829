// The sweeper's list: every open hold is in it at its deadline, in its tenant's shard, and no other hold.
import { shardOf } from "./entries.ts";
import type { Hold } from "./holds.ts";
import type { Cell } from "./keys.ts";
import type { Report } from "./words.ts";

export function checkDue(cell: Cell, holds: Hold[], report: Report) {
  const expected = new Map<string, { hold: Hold; at_ms: string }>();
  for (const hold of holds) {
    const shard = shardOf(`tenant:${hold.tenant}`);
    const member = `due:${shard} hold ${hold.tenant} ${hold.hold}`;
    if (hold.state === "open") expected.set(member, { hold, at_ms: String(hold.expires_at_ms) });
  }
  for (const { name, value } of cell.due) {
    for (const [member, at_ms] of value) {
      const place = `${name} ${member}`;
      const due = expected.get(place);
      if (!/^hold \S+ \S+$/.test(member)) report(`${name}: ${member} is not a thing that falls due`);
      else if (!due) report(`${name}: ${member} is not an open hold of this shard`);
      else if (due.at_ms !== at_ms)
        report(`${name}: ${member} falls due at ${at_ms}, and expires at ${due.at_ms}`);
      expected.delete(place);
    }
  }
  for (const [place, { hold }] of expected) report(`${hold.name}: open, and ${place} is missing`);
}
