import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packed from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

/** None of those that come with the package: they switch off what keeps origins apart, which is what tests are about. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--host-resolver-rules=MAP *.test 127.0.0.1", // names of our own, which browsers don't trust as they do the address
];

/** Whether the browser that comes as a package runs here. */
export const HAS_BROWSER: boolean = process.platform === "linux" && process.arch === "x64";

/** One Chromium for the tests of a `describe`. It is unpacked, and keeps its files, in a directory that is gone afterwards. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  let directory = "";
  const temporary = process.env["TMPDIR"];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "perdure-browser-"));
    process.env["TMPDIR"] = directory;
    browser = await chromium.launch({ executablePath: await packed.executablePath(), args: FLAGS, headless: true });
  });

  afterAll(async () => {
    await browser?.close();
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
    if (directory !== "") rmSync(directory, { recursive: true, force: true });
  });

  return () => {
    if (browser === undefined) throw new Error("The browser is there only while tests run.");
    return browser;
  };
}
