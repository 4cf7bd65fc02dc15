import { afterEach, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { StoreError } from "../../src/errors.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor, defineWorkflow } from "../../src/index.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows, withTime } from "../workflows/support/use-workflows.ts";

const AWAY = new StoreError("store.rejected", "permission denied", { transient: false });
const answers: ((error: unknown) => void)[] = [];
/** Gets no answer before the end of the test. */
const unanswered = () => new Promise<never>((_, reject) => answers.push(reject));
const refused = () => Promise.reject(AWAY);

/** Before processes are stopped, which wait for what is under way. */
function endFaults(): void {
  vi.restoreAllMocks();
  for (const reject of answers.splice(0)) reject(AWAY);
}

const FAULTS = [
  ["gets no answer", unanswered],
  ["is refused", refused],
] as const;

describe.each(ENGINES)("chores on $name", (engine) => {
  const subject = useWorkflows(engine);
  afterEach(endFaults);

  const plain = defineWorkflow({ name: "plain" }, async () => "done");
  const scheduled = defineWorkflow({ name: "scheduled", schedules: ["* * * * *"] }, async () => {});
  const limited = defineWorkflow({ name: "limited", concurrency: { limit: 1 } }, async () => {});

  /** Something that another process creates is run while chores of this one fail. */
  async function runsFromOutside(): Promise<void> {
    const outside = subject.process({ plain });
    const instance = await outside.workflows.plain.create();
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
  }

  test.each(FAULTS)("a schedule whose firing %s holds back no claim", async (_, fault) => {
    const process = subject.start({ plain, scheduled });
    const fire = vi.spyOn(process.store.engine.schedules, "fire").mockImplementation(fault);
    await withTime(subject.clock, () => expect(fire).toHaveBeenCalled());
    await runsFromOutside();
  });

  test.each(FAULTS)("a look at schedules that %s when a process begins holds back no claim", async (_, fault) => {
    const process = subject.process({ plain, scheduled });
    vi.spyOn(process.store.engine.schedules, "list").mockImplementation(fault);
    process.start();
    await runsFromOutside();
  });

  test.each(FAULTS)("an admission from a line that %s holds back no claim", async (_, fault) => {
    const process = subject.process({ plain, limited });
    const admit = vi.spyOn(process.store.instances.statements, "admit").mockImplementation(fault);
    process.start();
    await eventually(() => expect(admit).toHaveBeenCalled());
    await runsFromOutside();
  });

  test.each(FAULTS)("a purge and a survey that %s hold back no claim", async (_, fault) => {
    const process = subject.process({ plain });
    const { statements } = process.store.instances;
    for (const method of ["leaseTokens", "unknownNames", "unfinishedVersions", "openLines", "purge"] as const) {
      vi.spyOn(statements, method).mockImplementation(fault);
    }
    process.start();
    await runsFromOutside();
  });
});

describe.each(ENGINES)("two databases of one processor, on $name", (engine) => {
  const under = useHooks(engine);
  afterEach(endFaults);

  /** One whose claims meet a fault, and one that is well. The worker has one place. */
  function startBoth(fault: () => Promise<never>) {
    const [ill, well] = [recordCalls<string>(), recordCalls<string>()];
    const first = under.process({ greet: ill.definition });
    const second = under.process({ greet: well.definition });
    const claim = vi.spyOn(first.store.hooks.statements, "claim").mockImplementation(fault);
    const processor = createDurableHooksProcessor([first.fragment, second.fragment]) as DurableHooksProcessor;
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const dispatcher = createDurableHooksDispatcher({ processor, concurrency: 1, onError });
    return { first, second, ill, well, claim, dispatcher, errors };
  }

  test("a drain runs what is due in the available one, and reports the other to onError", async () => {
    const { second, well, dispatcher, errors } = startBoth(refused);
    for (const name of ["ada", "bob"]) await second.hooks.greet.trigger(name);
    await dispatcher.drain();
    expect(well.payloads).toEqual(["ada", "bob"]);
    expect(errors).toEqual([AWAY]);
  });

  test("the next wake is that of the available one, unless both fail", async () => {
    const { first, second, dispatcher } = startBoth(refused);
    const processor = createDurableHooksProcessor([first.fragment, second.fragment]) as DurableHooksProcessor;
    vi.spyOn(first.store.hooks.statements, "nextWake").mockImplementation(refused);
    await dispatcher.drain();
    const processAt = under.clock.now() + 60_000;
    await second.hooks.greet.trigger("ada", { processAt });
    expect(await processor.getNextWakeAt()).toEqual(new Date(processAt));
    vi.spyOn(second.store.hooks.statements, "nextWake").mockImplementation(refused);
    await expect(processor.getNextWakeAt()).rejects.toBe(AWAY);
  });

  test("a drain rejects when both fail", async () => {
    const { second, dispatcher } = startBoth(refused);
    vi.spyOn(second.store.hooks.statements, "claim").mockImplementation(refused);
    await expect(dispatcher.drain()).rejects.toBe(AWAY);
  });

  test("a worker runs the work of the available one while the other doesn't answer", async () => {
    const { second, well, claim, dispatcher } = startBoth(unanswered);
    dispatcher.startPolling();
    await eventually(() => expect(claim).toHaveBeenCalled());
    for (const name of ["ada", "bob"]) {
      await second.hooks.greet.trigger(name);
      await withTime(under.clock, () => expect(well.payloads).toContain(name));
    }
    endFaults();
    await dispatcher.stopPolling();
  });
});
