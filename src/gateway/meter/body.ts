// Reads usage, text and errors out of a whole body on its way, of any size, without keeping it.
import type { Dialect } from "./dialect.ts";
import { type Meter, type MeterStream, meterThrough, type Reading } from "./reading.ts";
import { JsonScanner } from "./scanner.ts";
import { bodyShapes } from "./shapes.ts";
import { Tally } from "./tally.ts";

export class BodyMeter implements Meter {
  readonly #tally: Tally;
  readonly #scanner: JsonScanner;

  constructor(dialect: Dialect) {
    this.#tally = new Tally(dialect);
    this.#scanner = new JsonScanner(bodyShapes[dialect], (complete) => {
      this.#tally.add(this.#scanner.facts, this.#scanner.quarters);
      if (complete) this.#tally.done = true;
    });
  }

  push(bytes: Uint8Array): Uint8Array {
    this.#tally.bytes += bytes.length;
    this.#scanner.feed(bytes, 0, bytes.length);
    return bytes;
  }

  end(): undefined {
    this.#scanner.reset();
  }

  reading(): Reading {
    return this.#tally.reading(this.#scanner.quarters);
  }
}

export const meterBody = (dialect: Dialect): MeterStream => meterThrough(new BodyMeter(dialect));
