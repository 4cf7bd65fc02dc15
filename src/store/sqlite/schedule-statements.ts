import type {
  KnownSchedules,
  ScheduleFiring,
  ScheduleKey,
  ScheduleScope,
  ScheduleTiming,
} from "../schedules/schedule-records.ts";
import { toScheduleRecord } from "../schedules/schedule-rows.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";
import type { SqliteAccess, SqliteDriver, SqliteValue } from "./drivers/driver.ts";
import type { SqliteInstanceStatements } from "./instances/instance-statements.ts";
import {
  CONFIRM_SCHEDULE,
  FIRE_SCHEDULE,
  INSERT_SCHEDULE,
  LIST_SCHEDULES,
  PAUSE_SCHEDULES,
  RESUME_SCHEDULE,
  RETIRE_SCHEDULE,
} from "./sql/schedules.ts";

export class SqliteScheduleStatements implements ScheduleStatements {
  readonly #access: SqliteAccess;
  readonly #driver: SqliteDriver;
  readonly #instances: Pick<SqliteInstanceStatements, "insertNow">;

  constructor(access: SqliteAccess, instances: Pick<SqliteInstanceStatements, "insertNow">) {
    this.#access = access;
    this.#driver = access.driver;
    this.#instances = instances;
  }

  async list(namespaces: readonly string[]): Promise<KnownSchedules> {
    return this.#access.read(() => {
      const rows = this.#driver.all(LIST_SCHEDULES, [JSON.stringify(namespaces)]);
      return { at: this.#access.now(), schedules: rows.map(toScheduleRecord) };
    });
  }

  async insert(schedules: readonly ScheduleTiming[]): Promise<void> {
    const insert = (schedule: ScheduleTiming, now: number) =>
      this.#driver.run(INSERT_SCHEDULE, [...keyOf(schedule), schedule.dueAt, now]);
    await this.#writeEach(schedules, insert);
  }

  async confirm(schedules: readonly ScheduleKey[]): Promise<void> {
    await this.#writeEach(schedules, (schedule, now) => this.#driver.run(CONFIRM_SCHEDULE, [now, ...keyOf(schedule)]));
  }

  retire(schedules: readonly ScheduleKey[], confirmedBefore: number): Promise<number> {
    const retire = (schedule: ScheduleKey) => this.#driver.run(RETIRE_SCHEDULE, [...keyOf(schedule), confirmedBefore]);
    return this.#writeEach(schedules, retire);
  }

  async fire(firing: ScheduleFiring): Promise<boolean> {
    const { dueAt, nextAt, lastAt, instance } = firing;
    return this.#access.write(() => {
      const now = this.#access.now();
      const fired = this.#driver.run(FIRE_SCHEDULE, [nextAt, lastAt, now, ...keyOf(firing), dueAt, now]) === 1;
      if (fired && instance !== null) this.#instances.insertNow([instance]);
      return fired;
    });
  }

  async pause({ namespace, workflow, name }: ScheduleScope): Promise<number> {
    return this.#access.write(() => this.#driver.run(PAUSE_SCHEDULES, [namespace, workflow, name]));
  }

  async resume(schedules: readonly ScheduleTiming[]): Promise<void> {
    const resume = (schedule: ScheduleTiming) =>
      this.#driver.run(RESUME_SCHEDULE, [schedule.dueAt, ...keyOf(schedule)]);
    await this.#writeEach(schedules, resume);
  }

  async #writeEach<Item>(items: readonly Item[], write: (item: Item, now: number) => number): Promise<number> {
    if (items.length === 0) return 0;
    return this.#access.write(() => {
      const now = this.#access.now();
      return items.reduce((count, item) => count + write(item, now), 0);
    });
  }
}

function keyOf({ namespace, workflow, name, cron, timezone }: ScheduleKey): SqliteValue[] {
  return [namespace, workflow, name, cron, timezone];
}
