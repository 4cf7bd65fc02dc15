import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { findViolations, serveDashboard, watchComplaints } from "./support/browse.ts";
import { fillShop, openShop, type Shop } from "./support/shop.ts";

const WAITING = "/workflows/checkout/order-4214";

describe.skipIf(!HAS_BROWSER)("the page of an instance in Chromium", () => {
  const browser = useBrowser();
  let app: Shop;
  let url: string;
  let hidden: string;
  let close: () => void;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    app = await openShop({ database: ":memory:" });
    await fillShop(app);
    const open = await serveDashboard(app);
    const redacted = await serveDashboard(app, { payloads: false });
    url = open.url;
    hidden = redacted.url;
    close = () => {
      open.close();
      redacted.close();
    };
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  beforeEach(async () => {
    const context = await browser().newContext({ locale: "en-GB", permissions: ["clipboard-read", "clipboard-write"] });
    page = await context.newPage();
    complaints = watchComplaints(page);
  });

  afterEach(async () => {
    await page.context().close();
    expect(complaints).toEqual([]);
  });

  const press = (name: string) => page.locator("main").getByRole("button", { name, exact: true }).click();
  const row = (name: RegExp) => page.locator(".row").getByRole("button", { name }).first();
  const parameters = () => new URL(page.url()).searchParams;

  test("starts another like one that is still in line, with its params", async () => {
    await page.goto(`${url}/workflows/import-catalog/catalog-west`);
    await page.getByText("queued", { exact: true }).first().waitFor();
    await page.getByRole("heading", { name: "Params" }).waitFor();
    await press("Start another");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Params").waitFor();
    expect(await dialog.getByLabel("Params").inputValue()).toContain('"shop": "west"');
    expect(await findViolations(page)).toEqual([]);
  });

  test("never starts an instance with params that are hidden from the viewer", async () => {
    for (const path of ["/workflows/trip/trip-kyoto", "/workflows/import-catalog/catalog-west"]) {
      await page.goto(`${hidden}${path}`);
      await press("Start another");
      const dialog = page.getByRole("dialog");
      await dialog.getByText("You can't see the params of").waitFor();
      expect(await dialog.getByLabel("Params").inputValue()).toBe("");
      expect(await findViolations(page)).toEqual([]);
    }
    await page.getByRole("dialog").getByLabel("Id").fill("catalog-blank");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("heading", { name: "catalog-blank" }).waitFor();
    const instance = await app.workflows.importCatalog.get("catalog-blank");
    expect((await instance.status()).params).toBeUndefined();
    await instance.terminate();
  });

  test("lists the events that no step has received", async () => {
    const instance = await app.workflows.checkout.get("order-4214");
    await instance.sendEvent({ type: "approved", payload: { by: "grace" } });
    await page.goto(`${url}${WAITING}`);
    await page.getByRole("heading", { name: "1 event not received" }).waitFor();
    await page.getByText('"grace"').waitFor();
    await page.goto(`${hidden}${WAITING}`);
    await page.getByRole("heading", { name: "1 event not received" }).waitFor();
    expect(await page.locator("main").textContent()).not.toContain("grace");
  });

  test("keeps the selected step, the opened children and the zoom in its URL", async () => {
    await page.goto(`${url}/workflows/checkout/order-4205`);
    await row(/^receipt complete/).click();
    await row(/^render pdf/).waitFor();
    await row(/^archive/).click();
    await row(/^upload/).click();
    await page.getByRole("heading", { name: "upload" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const track = (await page.locator(".ruler .track").boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(track.x + track.width * 0.2, track.y + 8);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width * 0.6, track.y + 8, { steps: 4 });
    expect(await page.locator(".brush").count()).toBe(1);
    await page.mouse.up();
    await page.waitForURL(/zoom=/);
    const [from = 0, to = 0] = (parameters().get("zoom") ?? "").split("-").map(Number);
    expect(from).toBeCloseTo(0.2, 1);
    expect(to).toBeCloseTo(0.6, 1);
    expect(parameters().getAll("open").length).toBe(2);

    await page.reload();
    await page.getByRole("heading", { name: "upload" }).waitFor();
    expect(await page.getByRole("button", { name: "Show all" }).isEnabled()).toBe(true);
    await press("Show all");
    expect(parameters().has("zoom")).toBe(false);
    await row(/^receipt complete/).click();
    await row(/^render pdf/).waitFor({ state: "detached" });
  });

  test("shows a child's steps by the keyboard, too", async () => {
    await page.goto(`${url}/workflows/checkout/order-4205`);
    await row(/^receipt complete/).waitFor();
    await page.getByRole("region", { name: "Steps" }).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await row(/^render pdf/).waitFor();
    await page.keyboard.press("Enter");
    await row(/^render pdf/).waitFor({ state: "detached" });
  });

  test("leads to its line, which names those inside and those that wait", async () => {
    await page.goto(`${url}/workflows/import-catalog/catalog-west`);
    await page.getByRole("link", { name: "catalog", exact: true }).click();
    const card = page.locator(".line-card").filter({ hasText: "import-catalog" });
    await card.getByText("2 of 2 slots are held, 3 wait.").waitFor();
    const lists = await card.getByRole("list").all();
    const names = await Promise.all(lists.map((list) => list.getByRole("link").allInnerTexts()));
    expect(names).toEqual([
      ["catalog-north", "catalog-south"],
      ["catalog-east", "catalog-west", "catalog-outlet"],
    ]);
    await page.goto(`${hidden}/lines`);
    await page.getByText("a hidden key").first().waitFor();
  });

  test("copies its id", async () => {
    await page.goto(`${url}${WAITING}`);
    await page.getByRole("button", { name: "Copy id" }).click();
    await waitUntil(
      "it is copied",
      async () => (await page.evaluate("navigator.clipboard.readText()")) === "order-4214",
    );
  });

  test("shows times of day in place of how long ago, wherever a finger can reach", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${url}/workflows`);
    const time = page.locator("td time").first();
    await time.getByText(/now|ago/).waitFor();
    await page.getByRole("button", { name: "show times of day" }).click();
    await time.getByText(/^\d\d:\d\d:\d\d$/).waitFor();
    await page.reload();
    await time.getByText(/^\d\d:\d\d:\d\d$/).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
