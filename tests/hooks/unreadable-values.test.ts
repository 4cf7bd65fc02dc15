import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { HOSTILE } from "../support/hostile.ts";
import { KNOWN, makeKnown, makeNewer } from "../support/newer-values.ts";
import { recordCalls } from "./support/handlers.ts";
import { useHooks } from "./support/use-hooks.ts";

const MINUTE = 60_000;
const CORRUPT = { code: "value.corrupt", message: expect.stringContaining("newer version") };

describe.each(ENGINES)("hooks on $name", (engine) => {
  const subject = useHooks(engine);

  test("with a payload that a newer version has written wait for code that can read it, without losing attempts", async () => {
    const greet = recordCalls<unknown>(() => {}, { retries: { limit: 0 } });
    const process = subject.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger(KNOWN);
    await process.hooks.greet.trigger("neighbour");
    await makeNewer(process.store, engine, "hook");
    for (let attempt = 1; attempt <= 5; attempt++) {
      await process.drain();
      subject.clock.advance(MINUTE);
    }

    expect(greet.payloads).toEqual(["neighbour"]);
    expect((await process.durableHooks.list()).hooks).toMatchObject([
      { id, status: "pending", attempts: 0, payload: undefined, unreadable: CORRUPT },
    ]);
    await expect(process.durableHooks.get(id)).rejects.toMatchObject({ code: "value.corrupt" });
    await makeKnown(process.store, engine, "hook");
    await process.drain();
    expect(greet.payloads).toEqual(["neighbour", KNOWN]);
  });

  test("with an error that a newer version has written are marked among the dead letters", async () => {
    const fail = recordCalls<string>(
      (at) => {
        throw Object.assign(new Error("no"), at === "newer" ? { at: KNOWN } : {});
      },
      { retries: { limit: 0 } },
    );
    const process = subject.process({ fail: fail.definition });
    await process.hooks.fail.trigger("newer");
    await process.hooks.fail.trigger("neighbour");
    await process.drain();
    await makeNewer(process.store, engine, "hookError");

    const { hooks } = await process.durableHooks.deadLetters({ order: "oldest" });
    expect(hooks).toMatchObject([{ unreadable: CORRUPT }, { payload: "neighbour", error: { message: "no" } }]);
  });

  test.each(HOSTILE)("that throw what can't be looked at fail as others do: $what", async ({ make }) => {
    const fail = recordCalls<string>(
      (payload) => {
        if (payload === "hostile") throw make();
      },
      { retries: { limit: 1, delay: 1000 } },
    );
    const process = subject.process({ fail: fail.definition });
    const { id } = await process.hooks.fail.trigger("hostile");
    await process.hooks.fail.trigger("neighbour");
    await process.drain();
    subject.clock.advance(MINUTE);
    await process.drain();

    expect(fail.payloads.toSorted()).toEqual(["hostile", "hostile", "neighbour"]);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "failed", attempts: 2 });
  });
});
