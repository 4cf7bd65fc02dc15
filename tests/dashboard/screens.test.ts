import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { findViolations, serveDashboard, watchComplaints } from "./support/browse.ts";
import { fillShop, openShop, type Shop } from "./support/shop.ts";

const SCREENS: readonly (readonly [path: string, shows: string])[] = [
  ["/", "Needs attention"],
  ["/workflows", "order-4260"],
  ["/workflows?workflow=checkout&status=errored", "order-4257"],
  ["/workflows/checkout/order-4209", "charge card"],
  ["/workflows/trip/trip-bergen", "No car is left in Bergen."],
  ["/workflows/import-catalog/catalog-north", "is held by the worker"],
  ["/hooks", "syncCrm"],
  ["/hooks?status=failed", "550 mailbox unavailable"],
  ["/subjects/inventory", "warehouse:us-memphis"],
  ["/schedules", "Every Monday to Friday at 07:00"],
  ["/lines", "2 of 2 slots are held, 3 wait."],
  ["/lines?show=all", "slots are held"],
  ["/workers", "import-catalog"],
  ["/nothing/here", "There is no such view"],
];

describe.skipIf(!HAS_BROWSER)("the dashboard's screens in Chromium", () => {
  const browser = useBrowser();
  let app: Shop;
  let url: string;
  let close: () => void;

  beforeAll(async () => {
    app = await openShop({ database: ":memory:" });
    await fillShop(app);
    ({ url, close } = await serveDashboard(app));
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  async function open(path: string, options: Parameters<ReturnType<typeof browser>["newContext"]>[0] = {}) {
    const context = await browser().newContext({ locale: "en-GB", ...options });
    const page = await context.newPage();
    const complaints = watchComplaints(page);
    await page.goto(`${url}${path}`);
    return { page, complaints, context };
  }

  test.each(["light", "dark"] as const)(
    "show what they are for, without a complaint of axe or the browser, in %s",
    async (colorScheme) => {
      const { page, complaints, context } = await open("/", { colorScheme, reducedMotion: "reduce" });
      for (const [path, text] of SCREENS) {
        await page.goto(`${url}${path}`);
        await page.getByText(text).first().waitFor();
        expect(await findViolations(page), path).toEqual([]);
      }
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  test("fit on a phone, where only the navigation scrolls sideways", async () => {
    const { page, context } = await open("/", { viewport: { width: 360, height: 740 }, hasTouch: true });
    for (const [path, text] of SCREENS) {
      await page.goto(`${url}${path}`);
      await page.getByText(text).first().waitFor({ state: "attached" });
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect(width, path).toBeLessThanOrEqual(360);
      const wider = "[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > 360)";
      expect(await page.evaluate(`${wider}.map((one) => one.outerHTML.slice(0, 200))`), path).toEqual([]);
      expect(await findViolations(page), path).toEqual([]);
    }
    await context.close();
  });

  test("have nothing that moves for viewers who asked for less motion", async () => {
    const { page, context } = await open("/", { reducedMotion: "reduce" });
    await page.getByText("Needs attention").waitFor();
    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
    await context.close();
  });

  test.each(["/", "/workflows", "/workflows/checkout/order-4209", "/hooks", "/subjects"])(
    "load at most 60 kB of compressed script to show %s",
    async (path) => {
      const context = await browser().newContext({ locale: "en-GB" });
      const page = await context.newPage();
      const sizes: Promise<number>[] = [];
      page.on("requestfinished", (request) => {
        if (request.resourceType() === "script") sizes.push(request.sizes().then((one) => one.responseBodySize));
      });
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await page.locator("#page:not(:has([aria-busy]))").waitFor();
      if (path === "/") await page.locator(".plot canvas").first().waitFor();
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(60_000);
      await context.close();
    },
  );

  test("load nothing from another host, and are shared by their URLs", async () => {
    const { page, context } = await open("/");
    const hosts = new Set<string>();
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
    await page.goto(`${url}/workflows?workflow=checkout&status=errored&label=tenant%3Dacme`);
    await page.getByRole("link", { name: "order-4227" }).waitFor();
    expect(await page.getByLabel("Status").inputValue()).toBe("errored");
    await page.getByRole("link", { name: "order-4227" }).click();
    await page.getByRole("heading", { name: "order-4227" }).waitFor();
    expect(page.url()).toBe(`${url}/workflows/checkout/order-4227`);
    await page.goBack();
    await page.getByRole("link", { name: "order-4227" }).waitFor();
    expect([...hosts]).toEqual([new URL(url).host]);
    await context.close();
  });

  test("are reached with the keyboard alone: search, palette, help, sequences and the rows of a waterfall", async () => {
    const { page, context } = await open("/");
    const { keyboard } = page;
    await page.getByText("Needs attention").waitFor();
    await keyboard.press("g");
    await keyboard.press("w");
    await page.getByRole("link", { name: "order-4260" }).waitFor();
    await keyboard.press("/");
    await keyboard.type("order");
    expect(await page.evaluate("document.activeElement.name")).toBe("id");
    await keyboard.press("Escape");

    await keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.evaluate(
      "document.querySelector('dialog').close(); dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))",
    );
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
    await page.getByRole("combobox", { name: "Search for a screen" }).waitFor();
    await keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search for a screen" }).waitFor();
    await keyboard.type("dead letters");
    await page.getByRole("option", { name: "Dead letters", selected: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Dead letters" }).waitFor();

    await page.goto(`${url}/workflows/checkout/order-4209`);
    const rows = page.getByRole("region", { name: "Steps" });
    await rows.getByText("charge card").first().waitFor();
    await rows.focus();
    await keyboard.press("ArrowDown");
    await keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "charge card" }).waitFor();
    await page.getByText("The payment service answered 503 (attempt 2).").first().waitFor();
    await keyboard.press("+");
    await keyboard.press("ArrowRight");
    expect(await page.getByRole("button", { name: "Show all" }).isEnabled()).toBe(true);
    await keyboard.press("0");
    expect(await page.getByRole("button", { name: "Show all" }).isEnabled()).toBe(false);
    await keyboard.press("Escape");
    await page.getByRole("heading", { name: "charge card" }).waitFor({ state: "detached" });
    await context.close();
  });

  test("show a child's steps within the steps of its parent", async () => {
    const { page, context } = await open("/workflows/checkout/order-4205");
    await page.getByRole("button", { name: "receipt complete", exact: false }).first().click();
    await page.getByRole("button", { name: "render pdf" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await context.close();
  });

  test("keep saved views and the theme in the browser", async () => {
    const { page, context } = await open("/workflows?status=errored");
    await page.getByRole("button", { name: "Save this view" }).click();
    await page.getByLabel("Name").fill("My failures");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Theme: system" }).click();
    await page.goto(`${url}/workers`);
    await page.getByRole("link", { name: "My failures" }).click();
    await page.waitForURL(`${url}/workflows?status=errored`);
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("light");
    await page.getByRole("button", { name: "Forget My failures" }).click();
    expect(await page.getByRole("link", { name: "My failures" }).count()).toBe(0);
    await context.close();
  });

  test("show times in the viewer's own time zone", async () => {
    const { page, context } = await open("/workflows/trip/trip-kyoto", { timezoneId: "Asia/Tokyo", locale: "en-GB" });
    const instance = await (await app.workflows.trip.get("trip-kyoto")).status();
    const inTokyo = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Asia/Tokyo",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    await page.getByText(inTokyo.format(instance.createdAt)).first().waitFor();
    await context.close();
  });

  test("follow what happens, until the viewer pauses them", async () => {
    const { page, context } = await open("/workflows?workflow=trip");
    const live = page.getByRole("switch", { name: "Live updates" });
    await page.getByRole("link", { name: "trip-kyoto" }).waitFor();
    await app.workflows.trip.create({ id: "trip-live-1", params: { to: "Rome" } });
    await page.getByRole("link", { name: "trip-live-1" }).waitFor();
    await app.workflows.trip.create({ id: "trip-live-2", params: { to: "Rome" } });
    await page.getByRole("link", { name: "trip-live-2" }).waitFor();

    await live.click();
    expect(await live.getAttribute("aria-checked")).toBe("false");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await app.workflows.trip.create({ id: "trip-live-3", params: { to: "Rome" } });
    await live.click();
    await page.getByRole("link", { name: "trip-live-3" }).waitFor();
    expect(asked[0]).toContain("/changes"); // nothing was asked before it followed again
    await context.close();
  });

  test("show 5,000 steps with few elements, and scroll to the last", async () => {
    const steps = 5000;
    const instance = await app.workflows.backfill.create({ id: "long", params: { steps } });
    await instance.result();
    const { page, context } = await open("/workflows/backfill/long");
    await page.getByText("5,000 steps").waitFor();
    const rows = page.getByRole("region", { name: "Steps" });
    expect(await rows.getByRole("listitem").count()).toBeLessThan(60);
    await rows.focus();
    await page.keyboard.press("End");
    await page.getByRole("button", { name: "batch 4999" }).waitFor();
    expect(await rows.getByRole("listitem").count()).toBeLessThan(60);
    await context.close();
  });

  test("ask for nothing that the caller may not do", async () => {
    const only = await serveDashboard(app, { actions: false, payloads: false });
    const { page, context } = await open("/");
    for (const path of [
      "/workflows",
      "/workflows/checkout/order-4209",
      "/hooks?status=failed",
      "/subjects",
      "/schedules",
    ]) {
      await page.goto(`${only.url}${path}`);
      await page.locator("main h1").waitFor();
      await page.locator("#page:not(:has([aria-busy]))").waitFor();
      const names = await page.locator("main button.button").allInnerTexts();
      const actions = names.filter((name) =>
        /pause|resume|retry|restart|terminate|delete|redrive|discard|run now|due|start|send/i.test(name),
      );
      expect(actions, path).toEqual([]);
    }
    await page.goto(`${only.url}/workflows/checkout/order-4209`);
    await page.getByRole("heading", { name: "Output" }).waitFor();
    expect(await page.locator("main").textContent()).not.toContain("customer9@example.org");
    only.close();
    await context.close();
  });

  test("say why they can't be opened", async () => {
    const refused = await serveDashboard(app, { authorize: () => false });
    const response = await (await browser().newPage()).goto(refused.url);
    expect(response?.status()).toBe(403);
    expect(await response?.text()).toContain("isn't allowed");
    refused.close();
  });
});
