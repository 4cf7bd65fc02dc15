import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Application, defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { serveDashboard, watchComplaints } from "./support/browse.ts";

/** Each step ends when the test says so. */
const gates: (() => void)[] = [];
const busy = defineWorkflow({ name: "busy" }, async (event: WorkflowEvent<{ steps: number }>, step) => {
  for (let index = 1; index <= event.payload.steps; index += 1) {
    await step.do(`step ${index}`, () => new Promise<void>((resolve) => gates.push(resolve)));
  }
});

describe.skipIf(!HAS_BROWSER)("the dashboard's live updates in Chromium", () => {
  const browser = useBrowser();
  let app: Application<Record<never, never>, { busy: typeof busy }>;
  let url: string;
  let close: () => void;
  let page: Page;
  let signedIn = true;
  let begun = 0;

  beforeAll(async () => {
    app = await perdure({ database: ":memory:", workflows: { busy } });
    const authorize = () => (signedIn ? true : ("unauthenticated" as const));
    ({ url, close } = await serveDashboard(app, { authorize }));
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  beforeEach(async () => {
    signedIn = true;
    page = await browser().newPage({ locale: "en-GB" });
  });

  afterEach(() => page.close());

  const live = () => page.getByRole("switch", { name: "Live updates" });
  const create = async (steps: number) => {
    begun += 1;
    gates.length = 0;
    const { id } = await app.workflows.busy.create({ id: `busy-${begun}`, params: { steps } });
    return id;
  };
  const endStep = async (number: number) => {
    await waitUntil("the step runs", () => gates.length === number);
    gates[number - 1]?.();
  };
  const isHistory = ({ pathname }: URL) => pathname.endsWith("/history");

  test("a busy instance's steps are read one read after another, and the last read has the last step", async () => {
    const id = await create(6);
    await endStep(1);
    const failed: string[] = [];
    page.on("requestfailed", (request) => isHistory(new URL(request.url())) && failed.push(request.url()));
    let asked = 0;
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(isHistory, async (route) => {
      asked += 1;
      if (asked === 2) await held; // a slow database, while much happens
      await route.continue();
    });
    await page.goto(`${url}/workflows/busy/${id}`);
    await page.getByRole("button", { name: "step 1 " }).waitFor();
    const events = page.waitForRequest((request) => request.url().endsWith("/explain"));
    await endStep(2);
    await waitUntil("the steps are being read", () => asked === 2);
    await events;
    for (const number of [3, 4, 5]) await endStep(number);
    for (let again = 0; again < 2; again += 1)
      await page.waitForRequest((request) => request.url().endsWith("/explain"));
    expect([asked, failed]).toEqual([2, []]);
    answer();
    await page.getByRole("button", { name: "step 5 " }).waitFor();
    await endStep(6);
    await page.getByText("6 steps").waitFor();
    await page.getByText("complete since").waitFor();
    expect(failed).toEqual([]);
  });

  test("a page that can't be seen keeps no connection, and catches up when it can", async () => {
    const id = await create(2);
    await endStep(1);
    const streams = new Set<string>();
    const isStream = (path: string) => /\/(changes|subscribe)$/.test(path);
    page.on("request", (request) => isStream(request.url()) && streams.add(request.url()));
    page.on("requestfailed", (request) => streams.delete(request.url()));
    await page.goto(`${url}/workflows/busy/${id}`);
    await page.getByRole("button", { name: "step 1 " }).waitFor();
    await waitUntil("both streams are open", () => streams.size === 2);
    const show = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { configurable: true, get: () => ${hidden} });` +
          'document.dispatchEvent(new Event("visibilitychange"))',
      );
    await show(true);
    await waitUntil("none is open", () => streams.size === 0);
    await endStep(2);
    await (await app.workflows.busy.get(id)).result();
    await show(false);
    await page.getByText("complete since").waitFor();
    expect([...streams].some((one) => one.endsWith("/changes"))).toBe(true);
  });

  test("a stream that was refused is opened again", async () => {
    let refusals = 0;
    await page.route(
      ({ pathname }) => pathname.endsWith("/changes"),
      async (route) => {
        if (refusals === 2) return route.continue();
        refusals += 1;
        return route.fulfill({ status: 503, body: "busy" });
      },
    );
    await page.goto(`${url}/workflows`);
    await live().getByText("Connecting …").waitFor();
    await live().getByText("Live", { exact: true }).waitFor();
    expect(refusals).toBe(2);
    const id = await create(1);
    await page.getByRole("link", { name: id, exact: true }).waitFor();
    await endStep(1);
  });

  test("a page whose viewer is signed out says so, and continues when they are signed in again", async () => {
    const complaints = watchComplaints(page);
    await page.goto(`${url}/workflows`);
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
    signedIn = false;
    const notice = page.getByRole("alert").filter({ hasText: "You are signed out." });
    await notice.getByRole("button", { name: "Sign in again" }).waitFor();
    expect(await notice.textContent()).toContain("valid credentials");
    signedIn = true;
    await notice.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});
