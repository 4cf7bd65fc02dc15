import type {
  KnownSchedules,
  ScheduleFiring,
  ScheduleKey,
  ScheduleScope,
  ScheduleTiming,
} from "../schedules/schedule-records.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";
import { InstanceValues } from "./instance-values.ts";
import type { ValueCodec } from "./value-codec.ts";

/** Schedules are in the code, and only their times are stored; what they create has params. */
export class CodecScheduleStatements implements ScheduleStatements {
  readonly #inner: ScheduleStatements;
  readonly #values: InstanceValues;

  constructor(inner: ScheduleStatements, codec: ValueCodec) {
    this.#inner = inner;
    this.#values = new InstanceValues(codec);
  }

  list(namespaces: readonly string[]): Promise<KnownSchedules> {
    return this.#inner.list(namespaces);
  }

  insert(schedules: readonly ScheduleTiming[]): Promise<void> {
    return this.#inner.insert(schedules);
  }

  confirm(schedules: readonly ScheduleKey[]): Promise<void> {
    return this.#inner.confirm(schedules);
  }

  retire(schedules: readonly ScheduleKey[], confirmedBefore: number): Promise<number> {
    return this.#inner.retire(schedules, confirmedBefore);
  }

  async fire(firing: ScheduleFiring): Promise<boolean> {
    const { instance } = firing;
    if (instance === null) return this.#inner.fire(firing);
    return this.#inner.fire({ ...firing, instance: await this.#values.encodeInsert(instance) });
  }

  pause(scope: ScheduleScope): Promise<number> {
    return this.#inner.pause(scope);
  }

  resume(schedules: readonly ScheduleTiming[]): Promise<void> {
    return this.#inner.resume(schedules);
  }
}
