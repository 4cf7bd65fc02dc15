/**
 * Takes pictures of the dashboard of a sample application, light and dark, wide and on a phone.
 *
 *     npm run screenshots                    # those that README.md and docs/ show, into docs/images
 *     npm run screenshots -- /tmp/pictures   # every screen
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import packed from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";
import { createDashboard } from "../src/dashboard/index.ts";
import { toNodeHandler } from "../src/http/node.ts";
import { fillShop, openShop } from "../tests/dashboard/support/shop.ts";
import { root } from "./entry-points.ts";

interface Picture {
  readonly name: string;
  readonly path: string;
  /** A step of the waterfall to open. */
  readonly step?: string;
}

const SHOWN: readonly Picture[] = [
  { name: "overview", path: "/" },
  { name: "instance", path: "/workflows/checkout/order-4209", step: "charge card" },
];

const ALL: readonly Picture[] = [
  ...SHOWN,
  { name: "workflows", path: "/workflows" },
  { name: "waiting", path: "/workflows/checkout/order-4214" },
  { name: "rolled-back", path: "/workflows/trip/trip-bergen", step: "book car" },
  { name: "child", path: "/workflows/checkout/order-4205", step: "receipt" },
  { name: "backfill", path: "/workflows/backfill/history" },
  { name: "hooks", path: "/hooks" },
  { name: "dead-letters", path: "/hooks?status=failed" },
  { name: "subjects", path: "/subjects" },
  { name: "schedules", path: "/schedules" },
  { name: "lines", path: "/lines" },
  { name: "workers", path: "/workers" },
];

const WIDE = { width: 1360, height: 860 };
const PHONE = { width: 390, height: 844 };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"];

const [folder] = process.argv.slice(2);
const app = await openShop({ database: ":memory:" });
await app.workflows.backfill.create({ id: "history", params: { steps: 300 } });
await fillShop(app);
const dashboard = toNodeHandler(
  createDashboard(app, { basePath: "/ops", authorize: () => true, actions: true, payloads: true }),
);
const server = createServer(dashboard).listen(0, "127.0.0.1");
const unpacked = mkdtempSync(join(tmpdir(), "perdure-screenshots-"));
process.env["TMPDIR"] = unpacked;
const browser = await chromium.launch({ executablePath: await packed.executablePath(), args: FLAGS, headless: true });
try {
  const pictures = folder === undefined ? SHOWN : ALL;
  const directory = folder === undefined ? join(root, "docs/images") : resolve(folder);
  for (const scheme of ["light", "dark"] as const) {
    await take(browser, pictures, directory, scheme, WIDE);
    if (folder !== undefined) await take(browser, pictures, directory, scheme, PHONE, "-phone");
  }
  if (folder === undefined) await take(browser, SHOWN.slice(-1), directory, "dark", PHONE, "-phone");
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await app.stop({ deadlineMs: 0 });
  rmSync(unpacked, { recursive: true, force: true });
}
process.exit();

async function take(
  browser: Browser,
  pictures: readonly Picture[],
  directory: string,
  colorScheme: "light" | "dark",
  viewport: typeof WIDE,
  suffix = "",
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce", locale: "en-GB" });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") console.error(`${message.location().url}: ${message.text()}`);
  });
  await page.route(
    ({ pathname }) => pathname.endsWith("/api/activity"),
    (route) => route.fulfill({ json: anHour() }),
  );
  for (const { name, path, step } of pictures) {
    await page.goto(`${origin}/ops${path}`);
    await page.locator("h1").waitFor();
    await page.locator("#page:not(:has([aria-busy]))").waitFor();
    await page.waitForTimeout(700);
    if (step !== undefined) await page.getByRole("button", { name: step }).first().click();
    if (step !== undefined) await page.waitForTimeout(300);
    const fullPage = suffix !== "" && folder !== undefined;
    if (suffix !== "" && !fullPage) await page.evaluate("document.querySelector('.waterfall').scrollIntoView()");
    await page.screenshot({ path: join(directory, `${name}-${colorScheme}${suffix}.png`), fullPage });
  }
  await context.close();
}

/** What a shop does in an hour, which the sample would take an hour to do. */
function anHour() {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const wave = (index: number, size: number) =>
    Math.round(size * (1 + 0.45 * Math.sin(index / 7) + 0.2 * Math.sin(index * 2.3)));
  const minutes = Array.from({ length: 60 }, (_, index) => ({
    at: new Date(now - (59 - index) * 60_000).toISOString(),
    instancesStarted: wave(index, 42),
    instancesCompleted: wave(index - 1, 38),
    instancesErrored: index % 11 === 3 ? 5 : index % 5 === 0 ? 1 : 0,
    hooksCompleted: wave(index, 64),
    hooksRetried: index > 38 && index < 46 ? 22 : index % 7 === 0 ? 4 : 0,
    hooksFailed: index === 45 ? 9 : 0,
  }));
  return { since: minutes[0]?.at, minutes };
}
