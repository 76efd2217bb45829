// What a benchmark is, to main.ts.
import type { Table } from "./table.ts";

export interface Options {
  readonly quick: boolean;
  readonly runs: number;
  /** What was started is ended by it, also on Ctrl-C. */
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (text: string) => void;
  /** Each table as soon as it is there. */
  readonly show: (table: Table) => void;
}

export interface Report {
  /** The version of the database. */
  readonly redis: string;
  /** The bounds that do not hold, in words. */
  readonly broken: readonly string[];
}

export interface Benchmark {
  readonly run: (options: Options) => Promise<Report>;
}
