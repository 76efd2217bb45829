// A way to hand out a limited number of units, as every caller sees it.

/** One unit: what the way needs to take it back. */
export type Unit = string;

export interface Way {
  readonly name: string;
  /** Empties what it counts, for `units` units. */
  readonly prepare: (units: number) => Promise<unknown>;
  /** A unit, or undefined when all are in use. Throws GaveUp. `caller` is the number of who asks. */
  readonly take: (caller: number) => Promise<Unit | undefined>;
  readonly give: (caller: number, unit: Unit) => Promise<unknown>;
  /** How many units it believes to be in use. */
  readonly inUse: () => Promise<number>;
}
