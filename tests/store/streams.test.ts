import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { LEASE_MS, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("streams on $name", (engine) => {
  const fixture = useInstances(engine);

  test("an owner that has lost the run deletes nothing of the next owner's, however late its statement arrives", async () => {
    const { statements } = fixture.store.store.streams;
    const former = await fixture.start();
    fixture.clock.advance(LEASE_MS);
    const owner = await fixture.claimOne({ lock: "another" });
    const { ref } = owner;
    expect(await statements.write(owner, { stream: "b", number: 0, data: new Uint8Array([1]) })).toBe(true);
    const others = { ref, from: "a", below: "z", except: "a" };

    await statements.wipe({ ...others, lease: former });
    expect(await statements.read(ref, "b", 0)).toEqual(new Uint8Array([1]));
    await statements.wipe({ ...others, lease: owner });
    expect(await statements.read(ref, "b", 0)).toBeNull();
  });
});
