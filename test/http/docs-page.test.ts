// The documentation in a real browser: the page must work under its own security policy.
import { expect, test } from "vitest";
import { launch, noBrowser } from "../support/browser.ts";
import { INTERNAL_KEY, useWorker } from "../support/worker.ts";

const worker = useWorker();

test.skipIf(noBrowser)(
  "/docs shows every operation, tries one, and breaks no rule of its policy",
  async () => {
    const browser = await launch();
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      const elsewhere: string[] = [];
      const origin = await worker.url();
      page.on("request", (request) => request.url().startsWith(origin) || elsewhere.push(request.url()));

      await page.goto(`${origin}/docs`);
      await page.waitForSelector("#operations-leases-post_api_internal_allocate_key");
      const { paths } = (await worker.call("GET", "/openapi.json", {})).body as {
        paths: Record<string, object>;
      };
      const operations = Object.values(paths).reduce((sum, verbs) => sum + Object.keys(verbs).length, 0);
      expect(await page.locator(".opblock").count()).toBe(operations);

      await page.click(".btn.authorize");
      await page.fill('[aria-label="auth-apikey-value"], #api_key_value', INTERNAL_KEY);
      await page.click(".auth-btn-wrapper .authorize >> nth=0");
      await page.click(".btn-done");
      await page.click("#operations-leases-post_api_internal_allocate_key");
      await page.click(".try-out__btn");
      await page.fill(".body-param__text", '{ "provider": "nobody", "model": "m" }');
      await page.click(".execute");
      await page.waitForSelector(".live-responses-table tbody .response-col_status");
      expect(await page.textContent(".live-responses-table tbody .response-col_status")).toContain("404");

      expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
      expect(elsewhere.filter((url) => !url.startsWith("data:"))).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
