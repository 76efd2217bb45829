// A way to spend prepaid funds, as every caller sees it.
export interface Way {
  readonly name: string;
  /** New funds. */
  readonly prepare: (funds: number) => Promise<unknown>;
  /** Whether the call was admitted; then its amount is spent. Throws GaveUp. `caller` is the number of who asks. */
  readonly spend: (caller: number, amount: number) => Promise<boolean>;
  /** What is left by the books: below 0 when they know of an overspend. */
  readonly left: () => Promise<number>;
}
