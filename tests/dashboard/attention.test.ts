import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Application, defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { findViolations, serveDashboard } from "./support/browse.ts";

const old = defineWorkflow({ name: "old" }, async () => {});
const fresh = defineWorkflow({ name: "fresh" }, async () => {});
const forgotten = defineHook({}, async (_payload: null) => {});
const quiet = { logger: { info() {}, warn() {}, error() {} } };

describe.skipIf(!HAS_BROWSER)("the dashboard's list of what needs attention", () => {
  const browser = useBrowser();
  const directory = mkdtempSync(join(tmpdir(), "perdure-attention-"));
  const database = join(directory, "app.db");
  let app: Application<Record<never, never>, { fresh: typeof fresh }>;
  let url: string;
  let close: () => void;

  beforeAll(async () => {
    const before = await perdure({ database, workflows: { old }, hooks: { forgotten }, worker: false, ...quiet });
    for (const id of ["one", "two"]) await before.workflows.old.create({ id });
    await before.hooks.forgotten.trigger(null);
    await before.stop();
    app = await perdure({ database, workflows: { fresh }, ...quiet });
    await waitUntil("the names are known to be unclaimed", async () => (await app.unclaimed()).length === 2);
    ({ url, close } = await serveDashboard(app));
  });

  afterAll(async () => {
    close();
    await app.stop();
    rmSync(directory, { recursive: true });
  });

  type Answers = Readonly<Record<string, (body: Record<string, unknown>) => unknown>>;

  async function open(answers: Answers = {}, at: string = url) {
    const context = await browser().newContext({ locale: "en-GB" });
    const page = await context.newPage();
    for (const [path, change] of Object.entries(answers)) {
      await page.route(
        (asked) => asked.pathname.endsWith(`/api${path}`),
        async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: change(await response.json()) });
        },
      );
    }
    await page.goto(`${at}/`);
    return { page, matters: page.locator(".matters"), context };
  }

  beforeEach(() => async () => {
    for (const context of browser().contexts()) await context.close();
  });

  test("names that no live worker runs are shown with the amount of waiting work, and link to it", async () => {
    const { page, matters } = await open();
    await matters.getByText("2 instances are due under the name old").waitFor();
    await matters.getByText("1 hook is due under the name forgotten").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await matters.getByRole("listitem").filter({ hasText: "the name old" }).getByRole("link").click();
    await page.getByRole("link", { name: "one", exact: true }).waitFor();
  });

  test("crash loops, growing queues and missing workers are shown", async () => {
    const crashed = {
      id: "poison",
      workflowName: "fresh",
      status: "errored",
      error: { name: "PerdureError", code: "workflow.crash_loop", message: "lost" },
    };
    const { matters } = await open({
      "/instances": (body) => ({ ...body, instances: [crashed] }),
      "/stats": (body) => ({
        ...body,
        hooks: { ...(body["hooks"] as object), due: 1_234_567, oldestDueMs: 90_000 },
        instanceQueue: { due: 7, waiting: 0, running: 0, inLine: 0, oldestDueMs: 3_600_000 },
      }),
      "/workers": () => ({ workers: [] }),
    });
    await matters.getByText("1 instance was given up after a crash loop").waitFor();
    await matters.getByText("An instance has been due for 1 h, and 7 are due in all").waitFor();
    await matters.getByText("A hook has been due for 1 min 30 s, and 1,234,567 are due in all").waitFor();
    await matters.getByText("No worker is alive").waitFor();
  });

  test("crash loops lead to what the caller may search", async () => {
    const crash = {
      status: "errored",
      workflowName: "fresh",
      error: { name: "PerdureError", code: "workflow.crash_loop" },
    };
    const crashed = (...ids: string[]) => ({
      "/instances": (body: Record<string, unknown>) => ({ ...body, instances: ids.map((id) => ({ id, ...crash })) }),
    });
    const linkOf = async (ids: string[], at: string) => {
      const { matters } = await open(crashed(...ids), at);
      return matters.getByRole("listitem").filter({ hasText: "crash loop" }).getByRole("link").getAttribute("href");
    };
    const hidden = await serveDashboard(app, { payloads: false });
    expect(await linkOf(["a", "b"], url)).toContain("/workflows?status=errored&error=");
    expect(await linkOf(["a", "b"], hidden.url)).toMatch(/\/workflows\?status=errored$/);
    expect(await linkOf(["a"], hidden.url)).toMatch(/\/workflows\/fresh\/a$/);
    hidden.close();
  });

  test("a caller that sees only instances with some labels gets the counts of these", async () => {
    const { page } = await open({ "/stats": ({ instances }) => ({ instances }) });
    await page.getByRole("link", { name: "Queued 2", exact: true }).waitFor();
    expect(await page.getByText("Hooks due").count()).toBe(0);
  });
});
