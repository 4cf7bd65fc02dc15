import { describe, expect, test } from "vitest";
import { PLAIN_TRIGGER } from "../../../tests/support/use-store.ts";
import type { HookInsert } from "./hook-records.ts";
import { mergeTriggers } from "./merge-triggers.ts";

function trigger(id: string, overrides: Partial<HookInsert> = {}): HookInsert {
  return { ...PLAIN_TRIGGER, namespace: "app", id, ...overrides };
}

function quiet(delayMs: number, maxWaitMs: number): Partial<HookInsert> {
  return { debounce: { delayMs, maxWaitMs } };
}

describe("triggers that are written together", () => {
  test("stay as they are without keys", () => {
    const triggers = [trigger("a"), trigger("b"), trigger("c")];

    expect(mergeTriggers(triggers)).toEqual({ merged: triggers, indexes: [0, 1, 2] });
  });

  test("become one by their key, with the last payload, policy and trace, and are counted", () => {
    const { merged, indexes } = mergeTriggers([
      trigger("a", { key: "k", payload: "1", retries: '{"limit":1}', trace: '"t"', triggers: 2 }),
      trigger("b"),
      trigger("c", { key: "k", payload: "2" }),
    ]);

    expect(merged).toEqual([trigger("c", { key: "k", payload: "2", triggers: 3 }), trigger("b")]);
    expect(indexes).toEqual([0, 1, 0]);
  });

  test("are apart by name and namespace, however these are put together", () => {
    const triggers = [
      trigger("a", { key: "k" }),
      trigger("b", { key: "k", name: "wave" }),
      trigger("c", { key: "k", namespace: "other" }),
      trigger("d", { key: 'k"', name: "x" }),
      trigger("e", { key: "k", name: 'x"' }),
    ];

    expect(mergeTriggers(triggers).merged).toEqual(triggers);
  });

  test.each([
    [5, 3, 3],
    [3, 5, 3],
    [null, 5, null],
    [5, null, null],
    [null, null, null],
  ])("are due at the earliest time: of %s and %s it is %s", (first, second, earliest) => {
    const { merged } = mergeTriggers([
      trigger("a", { key: "k", processAt: first }),
      trigger("b", { key: "k", processAt: second }),
    ]);

    expect(merged[0]?.processAt).toBe(earliest);
  });

  test.each([
    [2, 1, "1"],
    [1, 2, "2"],
    [1, 1, "2"],
    [null, 1, "1"],
    [1, null, "2"],
    [null, null, "2"],
  ])("have the newest payload: of those triggered at %s and %s", (first, second, payload) => {
    const { merged } = mergeTriggers([
      trigger("a", { key: "k", payload: "1", triggeredAt: first }),
      trigger("b", { key: "k", payload: "2", triggeredAt: second }),
    ]);

    expect(merged).toMatchObject([{ payload, triggers: 2, triggeredAt: payload === "1" ? first : second }]);
  });

  test.each<[string, Partial<HookInsert>, Partial<HookInsert>, Partial<HookInsert>]>([
    ["the last delay, and the shortest wait", quiet(5, 50), quiet(3, 60), quiet(3, 50)],
    ["the last delay, if that is the longer", quiet(3, 50), quiet(5, 40), quiet(5, 40)],
    ["no delay beyond the shortest wait", quiet(3, 4), quiet(9, 90), quiet(4, 4)],
    ["a time for a bound", quiet(5, 50), { processAt: 7 }, { ...quiet(5, 50), processAt: 7 }],
    ["a time for a bound, that came first", { processAt: 7 }, quiet(5, 50), { ...quiet(5, 50), processAt: 7 }],
    ["the earliest bound", { ...quiet(5, 50), processAt: 7 }, { processAt: 6 }, { ...quiet(5, 50), processAt: 6 }],
    ["a bound of those before", { ...quiet(5, 50), processAt: 7 }, quiet(3, 60), { ...quiet(3, 50), processAt: 7 }],
    ["no delay, if the last is due at once", quiet(5, 50), {}, {}],
    ["no delay, if the first is due at once", {}, quiet(5, 50), {}],
  ])("when they are debounced have %s", (_, first, second, expected) => {
    const { merged } = mergeTriggers([trigger("a", { key: "k", ...first }), trigger("b", { key: "k", ...second })]);

    expect(merged).toEqual([trigger("b", { key: "k", triggers: 2, ...expected })]);
  });

  test("count once if they are the same", () => {
    const same = trigger("a", { key: "k" });

    expect(mergeTriggers([same, same])).toEqual({ merged: [same], indexes: [0, 0] });
  });
});
