// A headless Chromium, where this machine has one; CI must have one.
import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function find(): string | undefined {
  for (const name of NAMES) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {}
  }
  return undefined;
}

const executablePath = find();
if (!executablePath && process.env.CI) throw new Error("no Chromium: sh dev/setup.sh tests installs one");

/** True where the tests of pages cannot run. */
export const noBrowser = !executablePath;

const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = () => chromium.launch({ ...(executablePath ? { executablePath } : {}), args: QUIET });
