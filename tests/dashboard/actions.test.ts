import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HAS_BROWSER, useBrowser } from "../client/support/use-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { findViolations, serveDashboard, watchComplaints } from "./support/browse.ts";
import { fillShop, openShop, type Shop } from "./support/shop.ts";

describe.skipIf(!HAS_BROWSER)("the dashboard's actions in Chromium", () => {
  const browser = useBrowser();
  let app: Shop;
  let url: string;
  let close: () => void;
  let page: Page;

  beforeAll(async () => {
    app = await openShop({ database: ":memory:" });
    await fillShop(app);
    ({ url, close } = await serveDashboard(app));
  });

  beforeEach(async () => {
    page = await browser().newPage({ locale: "en-GB" });
    const complaints = watchComplaints(page);
    return async () => {
      await page.close();
      expect(complaints).toEqual([]);
    };
  });

  afterAll(async () => {
    close();
    await app.stop({ deadlineMs: 0 });
  });

  const press = (name: string) => page.locator("main").getByRole("button", { name, exact: true }).click();
  const confirm = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  const said = (text: string) => page.getByRole("status").getByText(text).waitFor();
  const statusOf = async (id: string) => (await (await app.workflows.checkout.get(id)).status()).status;

  test("pause, resume and terminate an instance, the last only after a confirmation", async () => {
    await page.goto(`${url}/workflows/checkout/order-4204`);
    await press("Pause");
    await waitUntil("it is paused", async () => (await statusOf("order-4204")) === "paused");
    await press("Resume");
    await waitUntil("it waits again", async () => (await statusOf("order-4204")) === "waiting");

    await press("Terminate");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await statusOf("order-4204")).toBe("waiting");
    await press("Terminate");
    await page.getByLabel("Roll back the steps that have begun").check();
    await confirm("Terminate");
    await said("It is being rolled back.");
    await waitUntil("it is terminated", async () => (await statusOf("order-4204")) === "terminated");
  });

  test("send an event by a form of its schema, or as JSON, which the schema refuses at first", async () => {
    const waiting = (await app.workflows.checkout.list({ status: "waiting", order: "oldest" })).instances.find(
      ({ id }) => !id.endsWith("4"),
    );
    const id = waiting?.id ?? "";
    await page.goto(`${url}/workflows/checkout/${id}`);
    await press("Send event");
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Type").inputValue()).toBe("approved");
    await dialog.getByRole("button", { name: "Edit as JSON" }).click();
    await dialog.getByLabel("Payload").fill("{ by: ");
    await confirm("Send");
    await dialog.getByText("That isn't JSON").waitFor();
    await dialog.getByLabel("Payload").fill('{ "by": 7 }');
    await confirm("Send");
    await dialog.getByRole("alert").getByText("by:").waitFor();
    expect(await dialog.getByRole("button", { name: "Use the form" }).isEnabled()).toBe(false);
    await dialog.getByLabel("Payload").fill('{ "by": "ada" }');
    await dialog.getByRole("button", { name: "Use the form" }).click();
    expect(await dialog.getByLabel("by").inputValue()).toBe("ada");
    await dialog.getByLabel("amount").fill("12.5");
    expect(await findViolations(page)).toEqual([]);
    await confirm("Send");
    await said("The event “approved” is sent.");
    await waitUntil("it is complete", async () => (await statusOf(id)) === "complete");
    const { entries } = await (await app.workflows.checkout.get(id)).history();
    expect(entries.find(({ event }) => event !== undefined)?.event?.payload).toEqual({ by: "ada", amount: 12.5 });
  });

  test("retry, restart, restart from a step, and read the earlier runs", async () => {
    const id = "order-4207";
    const instance = await app.workflows.checkout.get(id);
    const runOf = async () => (await instance.status()).run;
    await page.goto(`${url}/workflows/checkout/${id}`);
    await press("Restart");
    await confirm("Restart");
    await waitUntil(
      "the second run has failed",
      async () => (await runOf()) === 2 && (await statusOf(id)) === "errored",
    );

    await page.getByRole("button", { name: "charge card" }).click();
    await press("Restart from here");
    await confirm("Restart from here");
    await page.getByRole("alert").getByText("can't be kept").waitFor(); // what was rolled back
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await runOf()).toBe(2);

    const done = await app.workflows.checkout.get("order-4205");
    await page.goto(`${url}/workflows/checkout/order-4205`);
    await page.getByRole("button", { name: "book parcel" }).click();
    await press("Restart from here");
    await confirm("Restart from here");
    await waitUntil("the second run is complete", async () => {
      const { run, status } = await done.status();
      return run === 2 && status === "complete";
    });
    await page.getByLabel("Run", { exact: true }).selectOption("1");
    await page.waitForURL(/run=1/);
  });

  test("start an instance like another one, and delete it", async () => {
    await page.goto(`${url}/workflows/trip/trip-kyoto`);
    await press("Start another");
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Params").inputValue()).toContain('"to": "Kyoto"');
    await dialog.getByLabel("Id").fill("trip-again");
    await confirm("Start");
    await page.getByRole("heading", { name: "trip-again" }).waitFor();
    await (await app.workflows.trip.get("trip-again")).result();
    await press("Delete");
    await confirm("Delete");
    await said("trip-again is deleted.");
    await expect(app.workflows.trip.get("trip-again")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("change the selected instances of a list together", async () => {
    await page.goto(`${url}/workflows?workflow=import-catalog`);
    for (const id of ["catalog-west", "catalog-outlet"]) await page.getByLabel(`Select ${id}`).check();
    await page.getByText("2 selected").waitFor();
    await page.getByRole("toolbar").getByRole("button", { name: "Terminate" }).click();
    await confirm("Terminate");
    await said("Terminate: 2 done.");
    const { instances } = await app.workflows.importCatalog.list({ status: "terminated" });
    expect(instances.map(({ id }) => id).sort()).toEqual(["catalog-outlet", "catalog-west"]);
  });

  test("redrive and discard dead letters, and cancel hooks", async () => {
    const failed = async () => (await app.durableHooks.statistics()).failed;
    await page.goto(`${url}/hooks?status=failed`);
    await press("Redrive all");
    await page.getByRole("dialog").getByText("It would be done to 2 hooks.").waitFor();
    await confirm("Redrive all");
    const job = page.getByRole("region", { name: "Job" });
    await job.getByText("2 done.").waitFor();
    await waitUntil("they have failed again", async () => (await failed()) === 2);
    await page.goto(`${url}/hooks?status=failed`);
    await page.getByLabel("Select all on this page").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Discard" }).click();
    await confirm("Discard");
    await said("Discard: 2 done.");
    expect(await failed()).toBe(0);

    const { hooks } = await app.durableHooks.list({ name: "webhook" });
    await page.goto(`${url}/hooks/${hooks[0]?.id}`);
    await page.getByText("is due at").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await press("Cancel hook");
    await confirm("Cancel hook");
    await said("Cancel hook: 1 done.");
    expect((await app.durableHooks.list({ name: "webhook" })).hooks).toEqual([]);
  });

  test("act on all instances that match a filter, after a count, with live progress", async () => {
    const terminated = async () => (await app.workflows.checkout.list({ status: "terminated" })).instances.length;
    const before = await terminated();
    await page.goto(`${url}/workflows?workflow=checkout&status=waiting&label=channel%3Dapp`);
    await page.getByText(/^\d+ instances$/).waitFor();
    const shown = Number.parseInt((await page.getByText(/^\d+ instances$/).textContent()) ?? "", 10);
    expect(shown).toBeGreaterThan(2);
    await press("Act on all that match");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Action").selectOption("terminate");
    await dialog.getByText(`It would be done to ${shown} instances. They end now.`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await terminated()).toBe(before);

    await press("Act on all that match");
    await dialog.getByLabel("Action").selectOption("terminate");
    await dialog.getByText(`It would be done to ${shown} instances.`).waitFor();
    await confirm("Start");
    const job = page.getByRole("region", { name: "Job" });
    await job.getByText(`${shown} done.`).waitFor();
    expect(await terminated()).toBe(before + shown);
    expect(await findViolations(page)).toEqual([]);
    await page.reload();
    await job.getByText(`${shown} done.`).waitFor();
    await job.getByRole("button", { name: "Close" }).click();
    await job.waitFor({ state: "detached" });
  });

  test("cancel all hooks that match a filter", async () => {
    const pending = async () => (await app.durableHooks.list({ name: "syncCrm" })).hooks.length;
    expect(await pending()).toBe(3);
    await page.goto(`${url}/hooks?status=pending&name=syncCrm`);
    await press("Cancel all");
    await page.getByRole("dialog").getByText("It would be done to 3 hooks.").waitFor();
    await confirm("Cancel all");
    await page.getByRole("region", { name: "Job" }).getByText("3 done.").waitFor();
    expect(await pending()).toBe(0);
  });

  test("pause, resume and run schedules", async () => {
    const monthly = async () => (await app.schedules.list()).find(({ name }) => name === "monthly");
    await page.goto(`${url}/schedules`);
    await page.getByRole("button", { name: "Pause monthly" }).click();
    await confirm("Pause");
    await said("monthly is paused.");
    expect((await monthly())?.paused).toBe(true);
    await page.getByRole("button", { name: "Resume monthly" }).click();
    await said("monthly is resumed.");
    expect((await monthly())?.paused).toBe(false);
    const count = async () => (await app.workflows.digest.list()).instances.length;
    const before = await count();
    await page.getByRole("button", { name: "Run now: monthly" }).click();
    await confirm("Run now");
    await said("is created.");
    expect(await count()).toBeGreaterThan(before);
  });

  test("make subjects due", async () => {
    const successes = async () => {
      const subject = await app.subjects.dispatcher("inventory").getSubject("warehouse:nl-venlo");
      return subject?.lastSuccessAt?.getTime() ?? 0;
    };
    const before = await successes();
    await page.goto(`${url}/subjects`);
    await page.getByRole("button", { name: "Make due: warehouse:nl-venlo" }).click();
    await said("warehouse:nl-venlo is due now.");
    await waitUntil("it is handled again", async () => (await successes()) > before);
  });

  test("release a subject from its owner", async () => {
    const other = app.subjects.dispatcher("other"); // no process handles its subjects
    await other.syncSubjects({ subjects: [{ subjectKey: "shelf" }] });
    await other.claimDueSubjects({ limit: 1, leaseMs: 600_000 });
    await page.goto(`${url}/subjects/other`);
    await press("Release");
    await page.getByRole("dialog").getByText("Take shelf from its owner?").waitFor();
    expect((await other.getSubject("shelf"))?.leaseOwner).not.toBeNull();
    await confirm("Release");
    await said("shelf is released.");
    expect((await other.getSubject("shelf"))?.leaseOwner).toBeNull();
  });

  test("a confirmation is made with the keyboard alone", async () => {
    const id = "order-4214";
    await page.goto(`${url}/workflows/checkout/${id}`);
    await page.getByRole("button", { name: "Terminate" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Tab");
    while (!(await page.evaluate("document.activeElement.classList.contains('danger')")))
      await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await waitUntil("it is terminated", async () => (await statusOf(id)) === "terminated");
  });
});
