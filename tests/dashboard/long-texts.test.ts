import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Application, defineHook, defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { serveDashboard } from "./support/browse.ts";

/** No browser breaks it by itself. */
const LONG = "x".repeat(170);
const ID = LONG.slice(0, 100);
const NAME = `workflow-${LONG}`.slice(0, 64);
const STEP = `step ${LONG}`;

const limited = defineWorkflow(
  { name: NAME, concurrency: { limit: 1, key: () => LONG.slice(0, 120) } },
  async (_event: WorkflowEvent<unknown>, step) => {
    await step.do(STEP, async () => ({ [LONG]: LONG }));
    await step.do("fail", { retries: { limit: 0, delay: 0 } }, async () => {
      throw new Error(`${LONG} ${LONG}`);
    });
  },
);
const hook = defineHook({ retries: { limit: 0 } }, async (_payload: unknown) => {
  throw new Error(LONG);
});

describe.skipIf(!HAS_BROWSER)("the dashboard with texts and numbers as long as they can be", () => {
  const browser = useBrowser();
  let app: Application<{ hook: typeof hook }, { limited: typeof limited }>;
  let url: string;
  let close: () => void;

  beforeAll(async () => {
    const quiet = { info() {}, warn() {}, error() {} };
    const worker = { onError: () => {} };
    app = await perdure({ database: ":memory:", workflows: { limited }, hooks: { hook }, logger: quiet, worker });
    await app.workflows.limited.create({ id: ID, labels: { tenant: LONG.slice(0, 60) } });
    await app.hooks.hook.trigger({ [LONG]: LONG }, { key: LONG.slice(0, 100) });
    await waitUntil("both have failed", async () => {
      const { errored = 0 } = (await app.instances.counts()).total;
      return errored === 1 && (await app.durableHooks.statistics()).failed === 1;
    });
    ({ url, close } = await serveDashboard(app));
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  test.each([1360, 360])("never scrolls sideways at a width of %i, and shows all digits", async (width) => {
    const page = await browser().newPage({ locale: "en-GB", viewport: { width, height: 800 } });
    await page.route(
      ({ pathname }) => pathname.endsWith("/api/stats"),
      async (route) => {
        const statistics = (await (await route.fetch()).json()) as {
          readonly instances: { readonly total: object };
          readonly hooks: object;
        };
        Object.assign(statistics.instances.total, { errored: 1_234_567_890, waiting: 98_765_432, running: 987_654 });
        Object.assign(statistics.hooks, { due: 1_234_567, failed: 987_654_321 });
        await route.fulfill({ json: statistics });
      },
    );
    const step = encodeURIComponent(`do:${STEP}#1`);
    for (const path of ["/", "/workflows", `/workflows/${NAME}/${ID}?step=${step}`, "/hooks", "/lines?show=all"]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await page.locator("#page:not(:has([aria-busy]))").waitFor();
      if (path === "/") {
        await page.getByText("1,234,567,890", { exact: true }).waitFor();
        const cut = "[...document.querySelectorAll('.tile strong')].filter((one) => one.scrollWidth > one.clientWidth)";
        expect(await page.evaluate(`${cut}.map((one) => one.textContent)`)).toEqual([]);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(width);
    }
    await page.close();
  });
});
