import { isLimited } from "../queue/rank.ts";
import { toNumber } from "../rows.ts";
import type {
  KnownSchedules,
  ScheduleFiring,
  ScheduleKey,
  ScheduleScope,
  ScheduleTiming,
} from "../schedules/schedule-records.ts";
import { toScheduleRecord } from "../schedules/schedule-rows.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";
import { integerArray, textArray } from "./array-literals.ts";
import { insertColumns } from "./instances/instance-columns.ts";
import { bySchedule, inOrder } from "./instances/locking-order.ts";
import {
  confirmSchedules,
  fireSchedule,
  insertSchedules,
  listSchedules,
  pauseSchedules,
  resumeSchedules,
  retireSchedules,
} from "./sql/schedules.ts";
import { PostgresStatements } from "./statements.ts";

export class PostgresScheduleStatements extends PostgresStatements implements ScheduleStatements {
  async list(namespaces: readonly string[]): Promise<KnownSchedules> {
    const { rows } = await this.run(listSchedules, [this.now(), namespaces]);
    const schedules = rows.filter((row) => row.namespace !== null).map(toScheduleRecord);
    return { at: toNumber(rows[0]?.now), schedules };
  }

  async insert(schedules: readonly ScheduleTiming[]): Promise<void> {
    if (schedules.length === 0) return;
    await this.run(insertSchedules, [this.now(), ...timingColumns(inOrder(schedules, bySchedule))]);
  }

  async confirm(schedules: readonly ScheduleKey[]): Promise<void> {
    if (schedules.length === 0) return;
    await this.run(confirmSchedules, [this.now(), ...keyColumns(inOrder(schedules, bySchedule))]);
  }

  async retire(schedules: readonly ScheduleKey[], confirmedBefore: number): Promise<number> {
    if (schedules.length === 0) return 0;
    const { rowCount } = await this.run(retireSchedules, [
      confirmedBefore,
      ...keyColumns(inOrder(schedules, bySchedule)),
    ]);
    return rowCount ?? 0;
  }

  async fire(firing: ScheduleFiring): Promise<boolean> {
    const { namespace, workflow, name, cron, timezone, dueAt, nextAt, lastAt, instance } = firing;
    const statement = fireSchedule(
      this.schema,
      instance === null ? "none" : isLimited(instance.traits) ? "limited" : "unlimited",
    );
    const inserted = instance === null ? [] : insertColumns([instance]);
    const firingColumns = [namespace, workflow, name, cron, timezone, dueAt, nextAt, lastAt];
    const { rows } = await this.connection.run(statement, [this.now(), ...inserted, ...firingColumns]);
    return rows[0]?.fired === true;
  }

  async pause({ namespace, workflow, name }: ScheduleScope): Promise<number> {
    const { rowCount } = await this.run(pauseSchedules, [namespace, workflow, name]);
    return rowCount ?? 0;
  }

  async resume(schedules: readonly ScheduleTiming[]): Promise<void> {
    if (schedules.length === 0) return;
    await this.run(resumeSchedules, timingColumns(inOrder(schedules, bySchedule)));
  }
}

function keyColumns(schedules: readonly ScheduleKey[]): unknown[] {
  return [
    textArray(schedules.map(({ namespace }) => namespace)),
    textArray(schedules.map(({ workflow }) => workflow)),
    textArray(schedules.map(({ name }) => name)),
    textArray(schedules.map(({ cron }) => cron)),
    textArray(schedules.map(({ timezone }) => timezone)),
  ];
}

function timingColumns(schedules: readonly ScheduleTiming[]): unknown[] {
  return [...keyColumns(schedules), integerArray(schedules.map(({ dueAt }) => dueAt))];
}
