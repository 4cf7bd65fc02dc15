import type { ScheduleStatements } from "../../src/store/schedules/schedule-statements.ts";
import type { ScheduleBook } from "../books/schedule-book.ts";
import type { Wire } from "./wire.ts";

/** The statements of one process about schedules: each goes over the wire, and into the book if it is committed. */
export function createScheduleStatements(
  wire: Wire,
  schedules: ScheduleStatements,
  book: ScheduleBook,
): ScheduleStatements {
  return {
    list: (namespaces) => wire.call("list schedules", () => schedules.list(namespaces)),
    // Engines don't ask the database where there is nothing to write.
    insert: async (timings) => {
      if (timings.length === 0) return;
      await wire.call(
        `insert ${timings.length} schedules`,
        () => schedules.insert(timings),
        () => book.inserted(timings),
      );
    },
    confirm: async (keys) => {
      if (keys.length > 0) await wire.call(`confirm ${keys.length} schedules`, () => schedules.confirm(keys));
    },
    retire: async (keys, before) => {
      if (keys.length === 0) return 0;
      return wire.call(
        `retire ${keys.length} schedules`,
        () => schedules.retire(keys, before),
        (count) => book.retired(count),
      );
    },
    fire: (firing) =>
      wire.call(
        `fire ${firing.workflow} ${firing.name} (${firing.cron}) of ${firing.dueAt} for ${firing.lastAt}`,
        () => schedules.fire(firing),
        (fired) => book.moved(firing, fired),
      ),
    pause: (scope) =>
      wire.call(
        `pause schedules of ${scope.workflow}`,
        () => schedules.pause(scope),
        (count) => book.paused(scope, count),
      ),
    resume: async (timings) => {
      if (timings.length === 0) return;
      await wire.call(
        `resume ${timings.map(({ name, dueAt }) => `${name} at ${dueAt}`).join(", ")}`,
        () => schedules.resume(timings),
        () => book.resumed(timings),
      );
    },
  };
}
