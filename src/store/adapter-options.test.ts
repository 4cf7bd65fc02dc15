import { describe, expect, test } from "vitest";
import { ControlledClock } from "../testing/controlled-clock.ts";
import { parseAdapterOptions } from "./adapter-options.ts";

describe("the options of a database", () => {
  test("are checked when it is opened, not when they are needed", () => {
    const wrong = [
      null,
      5,
      [],
      { clock: {} },
      { clock: null },
      { randomness: Math },
      { logger: {} },
      { colour: "red" },
    ];
    for (const options of wrong) {
      expect(() => parseAdapterOptions(options as never)).toThrow(expect.objectContaining({ code: "options.invalid" }));
    }
  });

  test("name an unknown field, however long it is", () => {
    const options = { [`colour${"!".repeat(10_000)}`]: 1 };
    expect(() => parseAdapterOptions(options as never, ["schema"])).toThrow(
      /^A database has no option "colour!{94}"; it takes schema, clock/,
    );
  });

  test("take what is given, and the system's otherwise", () => {
    const clock = new ControlledClock();
    expect(parseAdapterOptions({ clock }).clock).toBe(clock);
    expect(parseAdapterOptions({}).logger.warn).toBeTypeOf("function");
  });
});
