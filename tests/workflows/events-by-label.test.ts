import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

/** Returns the notes that came before the end. */
const notes = defineWorkflow({ name: "notes", events: { note: z.string() } }, async (_event, step) => {
  const heard: string[] = [];
  for (let count = 0; ; count++) {
    const { payload } = await step.waitForEvent(`note ${count}`, { type: "note", timeout: "1 day" });
    if (payload === "end") return heard;
    heard.push(payload);
  }
});

const acme = { tenant: "acme" };

describe.each([...ENGINES, ENCRYPTED_SQLITE])("events for all instances with a label, on $name,", (engine) => {
  const subject = useWorkflows(engine);

  test("reach each unfinished instance that has all of the labels, and no other", async () => {
    const process = subject.process({ notes });
    const { workflows } = process;
    await workflows.notes.createBatch([
      { id: "a", labels: { ...acme, region: "eu" } },
      { id: "b", labels: { ...acme, region: "eu" } },
      { id: "done", labels: { ...acme, region: "eu" } },
      { id: "elsewhere", labels: { ...acme, region: "us" } },
      { id: "none" },
    ]);
    await (await workflows.notes.get("done")).terminate();
    const eu = { ...acme, region: "eu" };

    expect(await workflows.notes.sendEventToAll({ labels: eu, type: "note", payload: "hello" })).toEqual({
      sent: 2,
      full: 0,
    });
    for (const id of ["a", "b", "elsewhere", "none"]) {
      await (await workflows.notes.get(id)).sendEvent({ type: "note", payload: "end" });
    }
    await process.drain();
    const heard = async (id: string) => (await workflows.notes.get(id)).result();
    expect([await heard("a"), await heard("b"), await heard("elsewhere"), await heard("none")]).toEqual([
      ["hello"],
      ["hello"],
      [],
      [],
    ]);
  });

  test("arrive once at each of many instances, however often the call is repeated", async () => {
    const process = subject.process({ notes });
    const { workflows } = process;
    const ids = Array.from({ length: 230 }, (_, index) => `one-${index}`);
    for (let start = 0; start < ids.length; start += 100) {
      await workflows.notes.createBatch(ids.slice(start, start + 100).map((id) => ({ id, labels: acme })));
    }
    const send = () => workflows.notes.sendEventToAll({ labels: acme, type: "note", payload: "once", id: "call-1" });
    expect([await send(), await send()]).toEqual([
      { sent: 230, full: 0 },
      { sent: 230, full: 0 },
    ]);
    expect(await workflows.notes.sendEventToAll({ labels: acme, type: "note", payload: "end" })).toMatchObject({
      sent: 230,
    });
    await process.drain();

    const results = await Promise.all(ids.map(async (id) => (await workflows.notes.get(id)).result()));
    expect(new Set(results.map((heard) => heard.join()))).toEqual(new Set(["once"]));
  });

  test("count the instances that take no more", async () => {
    const { workflows } = subject.process({ notes }, { workflowLimits: { pendingEvents: 1 } });
    await workflows.notes.createBatch([
      { id: "a", labels: acme },
      { id: "b", labels: acme },
    ]);
    await (await workflows.notes.get("a")).sendEvent({ type: "note", payload: "first" });

    const sent = await workflows.notes.sendEventToAll({ labels: acme, type: "note", payload: "second" });
    expect(sent).toEqual({ sent: 1, full: 1 });
  });

  test("need a label, and are checked before any is sent", async () => {
    const { workflows } = subject.process({ notes });
    await workflows.notes.create({ id: "a", labels: acme });
    const send = (event: object) => workflows.notes.sendEventToAll(event as never);
    await expect(send({ type: "note", payload: "x" })).rejects.toMatchObject({ code: "event.invalid" });
    await expect(send({ labels: {}, type: "note", payload: "x" })).rejects.toMatchObject({ code: "event.invalid" });
    await expect(send({ labels: acme, type: "" })).rejects.toMatchObject({ code: "id.invalid" });
    await expect(send({ labels: acme, type: "note", payload: 7 })).rejects.toMatchObject({
      code: "event.invalid",
    });

    if (Math.random() > 1) {
      // @ts-expect-error The payload is missing.
      await workflows.notes.sendEventToAll({ labels: acme, type: "note" });
    }
  });
});
