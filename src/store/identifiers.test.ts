import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Randomness, systemRandomness } from "../randomness.ts";
import { ControlledClock } from "../testing/controlled-clock.ts";
import { createIdGenerator } from "./identifiers.ts";

function fixed(byte: number): Randomness {
  return { fraction: () => 0, bytes: (length) => new Uint8Array(length).fill(byte) };
}

describe("ids", () => {
  test("have 26 characters, which need no escaping anywhere", () => {
    const createId = createIdGenerator(new ControlledClock(), systemRandomness);

    expect(createId()).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
  });

  test("rise with time", () => {
    const clock = new ControlledClock(0);
    const createId = createIdGenerator(clock, systemRandomness);
    let last = createId();
    for (const step of [1, 31, 32, 1000, 10 ** 6, 10 ** 12]) {
      clock.advance(step);
      const next = createId();
      expect(next > last).toBe(true);
      last = next;
    }
  });

  test("rise within a millisecond, and when the clock goes back", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 50 }), (jumps) => {
        const clock = new ControlledClock();
        const createId = createIdGenerator(clock, systemRandomness);
        const ids = jumps.map((jump) => {
          clock.set(clock.now() + jump);
          return createId();
        });
        expect(ids).toEqual([...new Set(ids)].sort());
      }),
    );
  });

  test("rise many times within a millisecond whatever they began with", () => {
    const createId = createIdGenerator(new ControlledClock(), fixed(0xff));
    const ids = Array.from({ length: 5000 }, createId);

    expect(ids).toEqual([...new Set(ids)].sort());
  });

  test("differ between processes that make them at the same moment", () => {
    const clock = new ControlledClock();
    const ids = Array.from({ length: 100 }, () => createIdGenerator(clock, systemRandomness)());

    expect(new Set(ids).size).toBe(100);
    expect(new Set(ids.map((id) => id.slice(0, 10))).size).toBe(1);
  });
});
