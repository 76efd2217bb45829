// The text that Prometheus reads: valid whatever a label is, and bounded whatever callers name.
import { expect, test } from "vitest";
import { Metrics } from "../../src/metrics.ts";

const seriesOf = (metrics: Metrics) =>
  metrics
    .text({ qm_redis_up: 1 })
    .split("\n")
    .filter((line) => line.startsWith("qm_leases_total{"));

test("counts by pool and result", () => {
  const metrics = new Metrics();
  metrics.lease("granted", "openai:default");
  metrics.lease("granted", "openai:default");
  metrics.lease("renewed", "openai:default");
  expect(seriesOf(metrics)).toEqual([
    'qm_leases_total{pool="openai:default",result="granted"} 2',
    'qm_leases_total{pool="openai:default",result="renewed"} 1',
  ]);
});

test("a thousand pools have two hundred series, and one for the rest", () => {
  const metrics = new Metrics();
  for (let i = 0; i < 1000; i++) metrics.lease("granted", `p:${i}`);
  expect(seriesOf(metrics)).toHaveLength(201);
  expect(seriesOf(metrics).at(-1)).toBe('qm_leases_total{pool="other",result="granted"} 800');
});

test("a quote, a backslash and a line end stay inside their label", () => {
  const metrics = new Metrics();
  metrics.lease("granted", 'a"b\\c\nd');
  expect(seriesOf(metrics)).toEqual(['qm_leases_total{pool="a\\"b\\\\c\\nd",result="granted"} 1']);
});
