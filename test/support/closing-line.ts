// The last line of a test run: `N passed, N failed`, for those who read only that.
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  #counts = { passed: 0, failed: 0, skipped: 0 };

  constructor() {
    // At the exit, since other reporters and a failing setup have their say until then.
    process.once("exit", (code) => {
      const { passed, failed, skipped } = this.#counts;
      // A run that failed outside of any test has failed all the same.
      const all = [`${passed} passed`, `${failed || (code ? 1 : 0)} failed`];
      if (skipped) all.push(`${skipped} skipped`);
      process.stdout.write(`${all.join(", ")}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "failed" : state]++;
      }
      // A file that does not load, and a hook that fails, count as one test each.
      if (module.errors().length > 0) counts.failed++;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed++;
    }
    this.#counts = counts;
  }
}
