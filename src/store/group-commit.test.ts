import { beforeEach, describe, expect, test } from "vitest";
import { PerdureError, StoreError } from "../errors.ts";
import { ControlledClock, settle } from "../testing/controlled-clock.ts";
import { GroupCommit, type GroupCommitOptions } from "./group-commit.ts";

const AWAY = new StoreError("store.unavailable", "The database is away.", { transient: true });
const REFUSED = new StoreError("store.rejected", "No.", { transient: false });

/** A database of which a test decides when and how it answers. */
class ScriptedDatabase {
  readonly flushes: { items: string[]; answer: (outcome?: Error) => Promise<void> }[] = [];

  readonly flush = (items: string[]): Promise<string[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const answer = async (outcome?: Error) => {
      if (outcome) reject(outcome);
      else resolve(items.map((item) => `${item} written`));
      await settle();
    };
    this.flushes.push({ items, answer });
    return promise;
  };

  get items(): string[][] {
    return this.flushes.map(({ items }) => items);
  }

  async answer(index: number, outcome?: Error): Promise<void> {
    await this.flushes[index]?.answer(outcome);
  }
}

describe("a group commit", () => {
  let clock: ControlledClock;
  let database: ScriptedDatabase;
  beforeEach(() => {
    clock = new ControlledClock();
    database = new ScriptedDatabase();
  });

  function create(options: Partial<GroupCommitOptions<string, string>> = {}): GroupCommit<string, string> {
    const measure = (item: string) => ({ rows: 1, bytes: item.length });
    return new GroupCommit({ clock, flush: database.flush, flushesInFlight: 1, measure, ...options });
  }

  /** Adds items, and gives what became of each so far. */
  function addAll(group: GroupCommit<string, string>, ...items: string[]): (string | undefined)[] {
    const outcomes: (string | undefined)[] = items.map(() => undefined);
    for (const [index, item] of items.entries()) {
      const note = (outcome: string) => {
        outcomes[index] = outcome;
      };
      group.add(item).then(note, (error: PerdureError) => note(error.code));
    }
    return outcomes;
  }

  describe("batches", () => {
    test("everything that one turn of the event loop asks for", async () => {
      const outcomes = addAll(create(), "a", "b", "c");
      expect(database.items).toEqual([]);
      await settle();

      expect(database.items).toEqual([["a", "b", "c"]]);
      await database.answer(0);
      expect(outcomes).toEqual(["a written", "b written", "c written"]);
    });

    test("calls made during a flush into the next one, in the order of the calls", async () => {
      const group = create();
      const outcomes = addAll(group, "a");
      await settle();
      outcomes.push(...addAll(group, "b"));
      await settle();
      addAll(group, "c", "d");
      await settle();
      expect(database.items).toEqual([["a"]]);

      await database.answer(0);
      expect(database.items).toEqual([["a"], ["b", "c", "d"]]);
    });

    test("as many at a time as are allowed in flight", async () => {
      const group = create({ flushesInFlight: 2 });
      for (const item of ["a", "b", "c", "d"]) {
        addAll(group, item);
        await settle();
      }
      expect(database.items).toEqual([["a"], ["b"]]);

      await database.answer(1);
      expect(database.items).toEqual([["a"], ["b"], ["c", "d"]]);
    });

    test("no more rows than fit", async () => {
      const group = create({ maxRows: 2, flushesInFlight: 2 });
      addAll(group, "a", "b", "c", "d", "e");
      await settle();
      expect(database.items).toEqual([
        ["a", "b"],
        ["c", "d"],
      ]);

      await database.answer(0);
      expect(database.items).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    });

    test("no more bytes than fit, but at least one item", async () => {
      const group = create({ maxBytes: 10 });
      addAll(group, "12345", "12345", "1", "much too long for it", "1");
      for (let index = 0; index < 4; index++) {
        await settle();
        await database.answer(index);
      }

      expect(database.items).toEqual([["12345", "12345"], ["1"], ["much too long for it"], ["1"]]);
    });

    test("an item of many rows by its rows", async () => {
      const measure = (item: string) => ({ rows: Number(item), bytes: 0 });
      addAll(create({ maxRows: 10, measure }), "4", "6", "1");
      await settle();

      expect(database.items).toEqual([["4", "6"]]);
    });
  });

  describe("after an error of the data", () => {
    test("fails the item alone that caused it", async () => {
      const flush = async (items: string[]) => {
        if (items.includes("poison")) throw REFUSED;
        return database.flush(items);
      };
      const outcomes = addAll(create({ flush }), "a", "b", "poison", "c", "d");
      for (let index = 0; index < 5; index++) {
        await settle();
        await database.answer(index);
      }

      expect(database.items.flat()).toEqual(["a", "b", "c", "d"]);
      expect(outcomes).toEqual(["a written", "b written", "store.rejected", "c written", "d written"]);
    });

    test("fails each of several", async () => {
      const flush = async (items: string[]) => {
        if (items.some((item) => item.startsWith("poison"))) throw REFUSED;
        return items;
      };
      const outcomes = addAll(create({ flush }), "poison 1", "a", "poison 2", "b");
      await settle();

      expect(outcomes).toEqual(["store.rejected", "a", "store.rejected", "b"]);
    });

    test("writes what was asked meanwhile afterwards", async () => {
      const group = create();
      addAll(group, "a", "poison");
      await settle();
      await database.answer(0, REFUSED);
      addAll(group, "b");
      await database.answer(1);
      expect(database.items).toEqual([["a", "poison"], ["a"], ["poison"]]);
      await database.answer(2, REFUSED);

      expect(database.items.at(-1)).toEqual(["b"]);
    });

    test.each(["store.closed", "store.not_migrated"])(
      "fails all calls at once by %s, which concerns none of them in particular",
      async (code) => {
        const outcomes = addAll(create(), "a", "b", "c");
        await settle();
        await database.answer(0, new PerdureError(code, "Not now."));

        expect(outcomes).toEqual([code, code, code]);
        expect(database.items).toHaveLength(1);
      },
    );
  });

  describe("while the database is away", () => {
    test("sends the same items again, whole, until they are written", async () => {
      const outcomes = addAll(create(), "a", "b");
      await settle();
      await database.answer(0, AWAY);
      expect(database.items).toHaveLength(1);
      await clock.advanceAndSettle(clock.nextTimer ?? 0);
      await database.answer(1, AWAY);
      await clock.advanceAndSettle(clock.nextTimer ?? 0);
      await database.answer(2);

      expect(database.items).toEqual([
        ["a", "b"],
        ["a", "b"],
        ["a", "b"],
      ]);
      expect(outcomes).toEqual(["a written", "b written"]);
    });

    test("waits longer each time, up to half a second", async () => {
      addAll(create(), "a");
      await settle();
      const waits: (number | null)[] = [];
      for (let index = 0; index < 8; index++) {
        await database.answer(index, AWAY);
        waits.push(clock.nextTimer);
        await clock.advanceAndSettle(clock.nextTimer ?? 0);
      }

      expect(waits).toEqual([10, 20, 40, 80, 160, 320, 500, 500]);
    });

    test("leaves what is asked meanwhile for later", async () => {
      const group = create();
      addAll(group, "a");
      await settle();
      await database.answer(0, AWAY);
      addAll(group, "b");
      await clock.advanceAndSettle(clock.nextTimer ?? 0);
      expect(database.items).toEqual([["a"], ["a"]]);
      await database.answer(1);

      expect(database.items).toEqual([["a"], ["a"], ["b"]]);
    });

    test("gives up after its deadline, rejects the calls of that flush, and continues with the rest", async () => {
      const group = create({ patienceMs: 100 });
      const outcomes = addAll(group, "a", "b");
      await settle();
      for (let index = 0; index < 4; index++) {
        await database.answer(index, AWAY);
        await clock.advanceAndSettle(clock.nextTimer ?? 0);
      }
      expect(outcomes).toEqual(["store.unavailable", "store.unavailable"]);
      expect(database.items).toHaveLength(4);
      expect(clock.timers).toBe(0);

      const later = addAll(group, "c");
      await settle();
      await database.answer(4);
      expect(later).toEqual(["c written"]);
    });

    test("splits if the data turns out to be wrong when it is back", async () => {
      const outcomes = addAll(create(), "a", "poison");
      await settle();
      await database.answer(0, AWAY);
      await clock.advanceAndSettle(clock.nextTimer ?? 0);
      await database.answer(1, REFUSED);
      await database.answer(2);
      await database.answer(3, REFUSED);

      expect(outcomes).toEqual(["a written", "store.rejected"]);
    });
  });

  describe("is idle", () => {
    test("at once when nothing was added", async () => {
      await expect(create().idle()).resolves.toBeUndefined();
    });

    test("when everything was written or has failed", async () => {
      const group = create({ maxRows: 1 });
      addAll(group, "a", "b");
      let idle = false;
      const noted = group.idle().then(() => {
        idle = true;
      });
      await settle();
      await database.answer(0);
      expect(idle).toBe(false);
      await database.answer(1, REFUSED);
      await noted;

      expect(idle).toBe(true);
      await expect(group.idle()).resolves.toBeUndefined();
    });
  });
});
