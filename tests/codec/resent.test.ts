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
});
