import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHook, defineSubjects, defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { serveDashboard, watchComplaints } from "./support/browse.ts";

/** Each of them runs, or changes the page, wherever it is taken for markup. */
const MARKUP = '"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script><b>harm</b>';
const LINK = "javascript:window.harmed=1";

function openHostile() {
  const hostile = defineWorkflow({ name: "hostile" }, async (_event: WorkflowEvent<object>, step) => {
    await step.do(`step ${MARKUP}`, async () => ({
      [MARKUP]: MARKUP,
      link: LINK,
      map: new Map([[MARKUP, new Set([LINK])]]),
    }));
    await step.do("wait", { retries: { limit: 1, delay: 1 } }, async () => {
      throw Object.assign(new Error(MARKUP), { name: MARKUP });
    });
  });
  const hook = defineHook({ retries: { limit: 0, delay: 1 } }, async (_payload: unknown) => {
    throw new Error(MARKUP);
  });
  const subjects = defineSubjects({
    every: "1 hour",
    discover: () => [{ subjectKey: `subject ${MARKUP}`, group: MARKUP, cursor: { [MARKUP]: LINK }, meta: { MARKUP } }],
    handle: async () => {
      throw new Error(MARKUP);
    },
  });
  const quiet = { info() {}, warn() {}, error() {} };
  const worker = { onError: () => {} };
  return perdure({
    database: ":memory:",
    workflows: { hostile },
    hooks: { hook },
    subjects: { board: subjects },
    logger: quiet,
    worker,
  });
}

describe.skipIf(!HAS_BROWSER)("the dashboard with markup in every name and value", () => {
  const browser = useBrowser();
  let app: Awaited<ReturnType<typeof openHostile>>;
  let url: string;
  let close: () => void;

  beforeAll(async () => {
    app = await openHostile();
    await app.workflows.hostile.create({
      id: "one",
      params: { [MARKUP]: LINK, text: MARKUP },
      labels: { kind: MARKUP.slice(0, 90) },
    });
    await app.hooks.hook.trigger({ [MARKUP]: MARKUP }, { key: MARKUP.slice(0, 80) });
    await waitUntil("everything has failed", async () => {
      const { errored = 0 } = (await app.instances.counts()).total;
      return errored === 1 && (await app.durableHooks.statistics()).failed === 1;
    });
    ({ url, close } = await serveDashboard(app));
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  test("shows it as text, and runs none of it", async () => {
    const page = await browser().newPage({ locale: "en-GB" });
    const complaints = watchComplaints(page);
    const [hook] = (await app.durableHooks.list()).hooks;
    const screens = [
      "/",
      "/workflows",
      "/workflows/hostile/one",
      "/hooks",
      `/hooks/${hook?.id}`,
      "/subjects",
      `/workflows?id=${encodeURIComponent(MARKUP)}`,
    ];
    for (const path of [
      ...screens,
      `/${encodeURIComponent(MARKUP)}`,
      `/workflows/hostile/${encodeURIComponent(MARKUP)}`,
    ]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await page.locator("#page:not(:has([aria-busy]))").waitFor();
      for (const row of await page.locator(".row button").all()) await row.click();
      const harm =
        "[window.harmed, document.querySelectorAll('img, b, main script').length, document.querySelectorAll('a[href^=javascript]').length]";
      expect(await page.evaluate(harm), path).toEqual([undefined, 0, 0]);
    }
    await page.goto(`${url}/workflows/hostile/one`);
    await page.getByText(MARKUP).first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("runs no script that got into the page all the same", async () => {
    const page = await browser().newPage({ locale: "en-GB" });
    await page.goto(`${url}/`);
    await page.locator("main h1").waitFor();
    const attempt =
      "document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=x onerror=window.harmed=1>')";
    await expect(page.evaluate(attempt)).rejects.toThrow("TrustedHTML");
    expect(await page.evaluate("window.harmed")).toBeUndefined();
    await page.close();
  });
});
