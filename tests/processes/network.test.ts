import { afterEach, beforeEach, expect, test } from "vitest";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";
import { waitUntil } from "../support/wait-until.ts";

const postgres = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;
const group = useProcessGroup();
let proxy: CuttingProxy;

beforeEach(async () => {
  await group.open(postgres);
  proxy = await CuttingProxy.start(group.location);
});

afterEach(() => proxy.stop());

test("a hook whose claim was answered after the lease ended isn't started", async () => {
  const late = await group.start({ database: proxy.url, worker: { leaseMs: 3000, pollIntervalMs: 3_600_000 } });
  const [first] = await group.trigger("note");
  await group.seen(late, "ran", first);
  await group.emptied();
  proxy.holdAnswers("answered too late");
  const [held = ""] = await group.trigger("hold", 1, "answered too late");
  await late.request({ do: "wake" });
  await waitUntil("it had claimed", async () => (await group.statistics()).processing === 1);

  const other = await group.start({ worker: { leaseMs: 3000 } });
  const takenOver = await group.seen(other, "started", held);
  proxy.releaseAnswers();
  await other.request({ do: "open" });
  await group.emptied();
  await other.request({ do: "stop" });
  const [next] = await group.trigger("note");
  await group.seen(late, "ran", next);

  expect(takenOver.attempt).toBe(2);
  expect(late.runs.filter(({ hookId }) => hookId === held)).toEqual([]);
});

test("a process that is asked to stop ends by itself when its server is out of reach", async () => {
  const worker = await group.start({ database: proxy.url, deadlineMs: 1000 });
  const [first] = await group.trigger("note");
  await group.seen(worker, "ran", first);
  await group.emptied();
  proxy.fallSilent();
  worker.kill("SIGTERM");

  expect(await worker.ended).toEqual({ code: 0, signal: null });
});
