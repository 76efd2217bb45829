// Time on a noisy machine: cases take turns, and what is compared was measured in the same round.

/** A ratio of each round, and their median. */
export interface Ratio {
  readonly median: number;
  readonly rounds: readonly number[];
}

/** The value that a share `at` of all values (0 to 1) does not exceed; 0 of none. */
export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** Round by round: what was slow for one was slow for the other. */
export function ratioOf(values: readonly number[], to: readonly number[]): Ratio {
  const rounds = values.map((value, i) => value / (to[i] ?? Number.NaN));
  return { median: median(rounds), rounds };
}

/** Calls 0 to total - 1, `width` of them under way at any time. Resolves with the seconds it took. */
export async function inParallel(total: number, width: number, call: (i: number) => Promise<unknown>) {
  let next = 0;
  const worker = async () => {
    while (next < total) await call(next++);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Math.min(width, total) }, worker));
  return (performance.now() - began) / 1000;
}

/** Measures every case once a round, each round beginning with another. Round 0 warms up and is not kept. */
export async function inRounds<T>(
  runs: number,
  cases: readonly ((round: number) => Promise<T>)[],
  progress: (round: number) => void,
): Promise<T[][]> {
  const samples: T[][] = cases.map(() => []);
  for (let round = 0; round <= runs; round++) {
    progress(round);
    for (let turn = 0; turn < cases.length; turn++) {
      const at = (turn + round) % cases.length;
      const sample = await cases[at]?.(round);
      if (round > 0 && sample !== undefined) samples[at]?.push(sample);
    }
  }
  return samples;
}
