import { describe, expect, test } from "vitest";
import { ENCRYPTED } from "../support/engines.ts";
import { useInstances } from "../support/use-instances.ts";

describe.each(ENCRYPTED)("on $name", (engine) => {
  const subject = useInstances(engine);

  test("a commit whose reply was lost is known when it is sent again, though no encryption is like another", async () => {
    const instance = await subject.start();
    const commit = subject.commitOf(instance, { kind: "running" }, { entries: [subject.entry({ value: '"secret"' })] });
    await subject.statements.commit([commit], { resent: false });

    expect(await subject.statements.commit([commit], { resent: true })).toMatchObject([{ result: "written" }]);
    const history = await subject.load(instance);
    expect(history?.entries.map(({ value }) => value)).toEqual(['"secret"']);
  });

  test("commits without entries are each their own, though they share an empty list", async () => {
    const entries: [] = [];
    const instances = [await subject.start(), await subject.start()];
    for (const instance of instances) {
      const commit = subject.commitOf(instance, { kind: "completed", output: "1" }, { entries });
      expect(await subject.statements.commit([commit], { resent: false })).toMatchObject([{ result: "written" }]);
    }
    const found = await subject.statements.find(instances);
    expect(found.map((record) => record?.status)).toEqual(["complete", "complete"]);
  });

  test("commits that share an outcome without a value are each their own", async () => {
    const outcome = { kind: "released" } as const;
    for (const instance of [await subject.start({ id: "one" }), await subject.start({ id: "other" })]) {
      const commit = subject.commitOf(instance, { kind: "running" }, { entries: [] });
      expect(await subject.statements.commit([{ ...commit, outcome }], { resent: false })).toMatchObject([
        { result: "written" },
      ]);
    }
  });
});
