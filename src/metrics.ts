// Counters of this isolate, as Prometheus text. Labels come from closed lists, so the number of series is bounded.
type Labels = Record<string, string | number>;

const HELP = {
  qm_requests_total: "Requests by route and status.",
  qm_leases_total:
    "Leases by what happened: granted, replayed, fallback, renewed, lost, released, late, undone.",
  qm_refusals_total: "Requests refused, by error code.",
  qm_store_unavailable_total: "Times that Redis did not answer or failed, by reason.",
} as const;

export class Metrics {
  private readonly series = new Map<string, number>();

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
