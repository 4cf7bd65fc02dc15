import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { serveDashboard, watchComplaints } from "./support/browse.ts";
import { fillShop, openShop, type Shop } from "./support/shop.ts";

describe.skipIf(!HAS_BROWSER)("the dashboard's lists in Chromium", () => {
  const browser = useBrowser();
  let app: Shop;
  let url: string;
  let close: () => void;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    app = await openShop({ database: ":memory:" });
    await fillShop(app);
    ({ url, close } = await serveDashboard(app));
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  beforeEach(async () => {
    page = await browser().newPage({ locale: "en-GB" });
    complaints = watchComplaints(page);
  });

  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  const link = (id: string) => page.getByRole("link", { name: id, exact: true });

  test("are turned page by page, and the browser's back button returns to the page before", async () => {
    await page.goto(`${url}/workflows?workflow=checkout`);
    await link("order-4260").waitFor();
    expect(await link("order-4201").count()).toBe(0);
    await page.getByRole("button", { name: "Next page" }).click();
    await link("order-4201").waitFor();
    expect(new URL(page.url()).searchParams.has("cursor")).toBe(true);
    await page.goBack();
    await link("order-4260").waitFor();
    await page.getByLabel("Status").selectOption("errored");
    await link("order-4257").waitFor();
    await page.goBack();
    await link("order-4260").waitFor();
    expect(await page.getByLabel("Status").inputValue()).toBe("");
  });

  test("lose all their filters at once", async () => {
    await page.goto(`${url}/workflows?workflow=checkout&status=errored&id=order-42&label=tenant%3Dacme`);
    await link("order-4257").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.waitForURL(`${url}/workflows`);
    await link("catalog-north").waitFor();
    expect(await page.getByLabel("Id begins with").inputValue()).toBe("");
    expect(await page.getByRole("button", { name: "Clear filters" }).count()).toBe(0);
  });

  test("search errors only for callers that see them", async () => {
    const search = page.getByLabel("Error contains");
    for (const path of ["/workflows", "/hooks"]) {
      await page.goto(`${url}${path}`);
      await search.waitFor();
    }
    const hidden = await serveDashboard(app, { payloads: false });
    for (const [path, shown] of [
      ["/workflows", "order-4260"],
      ["/hooks", "syncCrm"],
    ]) {
      await page.goto(`${hidden.url}${path}`);
      await page
        .getByText(shown as string)
        .first()
        .waitFor();
      expect(await search.count()).toBe(0);
      expect(await page.getByRole("alert").count()).toBe(0);
    }
    await page.goto(`${hidden.url}/workflows?error=declined`); // shared by someone who sees them
    await page.getByRole("alert").getByText("can't be searched").waitFor();
    await search.fill("");
    await link("order-4260").waitFor();
    await page.goto("about:blank");
    hidden.close();
  });
});
