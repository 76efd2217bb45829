// Counters of this isolate, as Prometheus text. Labels come from closed lists, and pools are bounded, so series are, too.
type Labels = Record<string, string | number>;

const HELP = {
  qm_requests_total: "Requests by route and status.",
  qm_leases_total:
    "Leases by pool and what happened: granted, replayed, fallback, renewed, lost, released, late, undone.",
  qm_holds_total: "Holds by what happened: reserved, replayed, extended, settled, voided, expired, refunded.",
  qm_shadow_refusals_total: "Gateway calls of tenants in shadow mode that would have been refused, by kind.",
  qm_refusals_total: "Requests refused, by error code.",
  qm_store_unavailable_total: "Times that Redis did not answer or failed, by reason.",
} as const;

/** Pools with series of their own; those that come later share one. */
const MOST_POOLS = 200;

export class Metrics {
  private readonly series = new Map<string, number>();
  private readonly pools = new Set<string>();

  /** What became of a lease of a pool (`<provider>:<pool>`). */
  lease(result: string, home: string) {
    if (this.pools.size < MOST_POOLS) this.pools.add(home);
    this.count("qm_leases_total", { pool: this.pools.has(home) ? home : "other", result });
  }

  /** What became of a hold. */
  hold(result: "reserved" | "replayed" | "extended" | "settled" | "voided" | "expired" | "refunded") {
    this.count("qm_holds_total", { result });
  }

  count(name: keyof typeof HELP, labels: Labels) {
    const key = `${name}{${Object.entries(labels)
      .map(([label, value]) => `${label}="${quoted(String(value))}"`)
      .join(",")}}`;
    this.series.set(key, (this.series.get(key) ?? 0) + 1);
  }

  /** Prometheus exposition text. `gauges` are read now: name and value. */
  text(gauges: Record<string, number>) {
    const lines = Object.entries(gauges).flatMap(([name, value]) => [
      `# TYPE ${name} gauge`,
      `${name} ${value}`,
    ]);
    for (const [name, help] of Object.entries(HELP)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [key, value] of this.series) if (key.startsWith(`${name}{`)) lines.push(`${key} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

const quoted = (value: string) =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
