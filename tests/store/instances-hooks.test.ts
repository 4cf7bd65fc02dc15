import { describe, expect, test } from "vitest";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import type { InstanceCommit, InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RUNNING, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("hooks that are triggered when runs end, on $name,", (engine) => {
  const subject = useInstances(engine);
  const trigger = (id: string): HookInsert => subject.store.trigger({ id, name: "$checkout.completed" });
  const pending = async () => {
    const filter = { namespace: subject.namespace, status: null, after: null } as const;
    return (await subject.store.hooks.list({ ...filter, order: "oldest", limit: 10 })).map(({ id }) => id);
  };
  const send = (commits: readonly InstanceCommit[], resent: boolean) => subject.statements.commit(commits, { resent });
  const endOf = async (outcome: InstanceOutcome, hook: string): Promise<InstanceCommit> => {
    const claimed = await subject.start();
    return { ...subject.commitOf(claimed, outcome, { entries: [subject.entry()] }), hook: trigger(hook) };
  };

  test.each([false, true])("are written with the outcome, when that is sent again: %s", async (resent) => {
    const commits = [await endOf(COMPLETED, "hook-a"), await endOf(ERRORED, "hook-b")];
    expect(await send(commits, resent)).toMatchObject([{ result: "written" }, { result: "written" }]);
    expect(await pending()).toEqual(["hook-a", "hook-b"]);
    const scopes = [{ namespace: subject.namespace, names: ["$checkout.completed"] }];
    expect(await subject.store.hooks.nextWake(scopes, { takeOver: true })).toBe(0);
  });

  test("are written beside commits of runs that continue, and that have none", async () => {
    const running = subject.commitOf(await subject.start(), RUNNING, { entries: [subject.entry()] });
    const plain = subject.commitOf(await subject.start(), COMPLETED);
    const commits = [running, await endOf(COMPLETED, "hook-a"), plain];
    expect((await send(commits, false)).map(({ result }) => result)).toEqual(["written", "written", "written"]);
    expect(await pending()).toEqual(["hook-a"]);
  });

  test("aren't written again when the outcome was: not even if they have run since", async () => {
    const commit = await endOf(COMPLETED, "hook-a");
    await send([commit], false);
    expect(await send([commit], true)).toMatchObject([{ result: "written" }]);
    expect(await pending()).toEqual(["hook-a"]);
    await subject.store.hooks.cancel(subject.namespace, { id: "hook-a" });
    expect(await send([commit], true)).toMatchObject([{ result: "written" }]);
    expect(await pending()).toEqual([]);
  });

  test.each([false, true])(
    "aren't written by an owner that has lost the instance and sends its commit again: %s",
    async (resent) => {
      const commit = await endOf(COMPLETED, "hook-a");
      subject.clock.advance(LEASE_MS);
      await subject.claimOne();
      expect(await send([commit], resent)).toEqual([{ result: "superseded" }]);
      expect(await pending()).toEqual([]);
    },
  );

  test("come with a terminate that has an effect, and know the run", async () => {
    await subject.create({ id: "one" });
    const runs: number[] = [];
    const hook = (run: number) => {
      runs.push(run);
      return trigger(`hook-${run}`);
    };
    await subject.statements.restart(subject.named("one"));
    expect(await subject.statements.terminate(subject.named("one"), hook)).toMatchObject({ changed: true });
    expect(await subject.statements.terminate(subject.named("one"), hook)).toMatchObject({ changed: false });
    expect(await subject.statements.terminate(subject.named("two"), hook)).toEqual({ changed: false, instance: null });
    expect(runs).toEqual([2]);
    expect(await pending()).toEqual(["hook-2"]);
  });
});
