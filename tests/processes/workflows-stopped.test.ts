import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { useWorkflowGroup } from "../support/workflow-group.ts";

const LEASE = { leaseMs: 3000 };
const postgres = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;

describe.each(ENGINES)("a process that stood still past its lease ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("has the result of its step refused, and begins no other", async () => {
    await group.open(engine);
    const stopped = await group.start({ worker: LEASE });
    await group.create("hold", ["one"]);
    await stopped.seen("began", "one", "held");
    stopped.kill("SIGSTOP");

    const other = await group.start({ worker: LEASE });
    await other.seen("began", "one", "held");
    await other.request({ do: "open" });
    await group.finished("hold", 1);
    const journal = await group.journal("hold", "one");
    await other.request({ do: "stop" });
    stopped.kill("SIGCONT");
    await stopped.seen("aborted", "one", "held");
    await stopped.request({ do: "open" });
    await stopped.seen("ended", "one", "held");
    // What it does next comes after whatever it might have written about the lost instance.
    await group.create("steps", ["next"], 1);
    await stopped.seen("ended", "next", "step");
    await group.finished("steps", 1);

    expect(await group.journal("hold", "one")).toEqual(journal);
    expect(stopped.began.filter(({ instance }) => instance === "one").map(({ step }) => step)).toEqual([
      "first",
      "held",
    ]);
  });

  test("has a commit refused that it sends the moment it continues", async () => {
    await group.open(engine);
    const file = join(group.directory, "gate");
    const blocked = await group.start({ worker: LEASE });
    // The body keeps the event loop from noticing that the lease is over, and is done the moment that it ends.
    await group.create("block", ["one"], file);
    await blocked.seen("began", "one", "blocked");

    const other = await group.start({ worker: { ...LEASE, concurrency: 1 } });
    const takenOver = await other.seen("began", "one", "blocked");
    writeFileSync(file, "");
    await group.finished("block", 1);

    expect(takenOver.attempt).toBe(2);
    await group.expectComplete("block", ["one"], ["first", "blocked", "last"]);
    const blockedEntry = (await group.journal("block", "one")).find(({ name }) => name === "blocked");
    expect(blockedEntry?.attempt).toBe(2);
    expect(blocked.began.map(({ step }) => step)).not.toContain("last");
  });
});

describe("a process that stood still past its lease while an answer was on its way (postgres)", () => {
  const group = useWorkflowGroup();

  test("begins no step when it gets the answer", async () => {
    await group.open(postgres);
    const proxy = await CuttingProxy.start(group.location);
    const stopped = await group.start({ database: proxy.url, worker: LEASE });
    await group.create("hold", ["one"]);
    await stopped.seen("began", "one", "held");
    proxy.holdAnswers();
    await stopped.request({ do: "open" });
    await waitUntil("its step was committed", async () => (await group.completed("hold", "one")).includes("held"));
    stopped.kill("SIGSTOP");
    proxy.releaseAnswers();

    const other = await group.start({ worker: LEASE });
    await other.seen("began", "one", "last");
    await group.finished("hold", 1);
    await other.request({ do: "stop" });
    stopped.kill("SIGCONT");
    await group.create("steps", ["next"], 1);
    await stopped.seen("ended", "next", "step");
    await proxy.stop();

    expect(stopped.began.filter(({ instance }) => instance === "one").map(({ step }) => step)).toEqual([
      "first",
      "held",
    ]);
  });
});
