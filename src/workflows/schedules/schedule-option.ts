import type { StandardSchemaV1 } from "@standard-schema/spec";
import { InvalidInputError } from "../../errors.ts";
import { checkId } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import { applySchema, isThenable } from "../../schema.ts";
import { encodeValue } from "../../values/index.ts";
import { CronTimes } from "./cron-times.ts";

/** When instances are created by themselves: a cron expression, in UTC, or more. */
export type ScheduleOption<Params = unknown> =
  | string
  | {
      readonly cron: string;
      /** Of the cron expression: `Europe/Berlin`. Default: `UTC`. */
      readonly timezone?: string;
      /** Of each instance. */
      readonly params?: Params;
      /**
       * At most 64 letters, digits and `. : _ -`, unique within the workflow. It stays the same when its times are changed, and
       * its instances' ids begin with it. Default: one that is made of the times.
       */
      readonly name?: string;
    };

/** A schedule of a workflow, as the code has it. */
export interface WorkflowSchedule {
  readonly name: string;
  readonly times: CronTimes;
  readonly params: unknown;
}

const LONGEST_NAME = 64;
const FIELDS = ["cron", "timezone", "params", "name"];

/** Checks what a workflow was given as its schedules. */
export function parseSchedules(schedules: unknown, input: StandardSchemaV1 | null): readonly WorkflowSchedule[] {
  if (schedules === undefined) return [];
  if (!Array.isArray(schedules))
    throw invalid("The schedules of a workflow must be an array: [cron, { cron, timezone }]");
  const parsed = schedules.map((schedule) => parseSchedule(schedule, input));
  const names = parsed.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw invalid(`Two schedules of a workflow have the name "${twice}": give each a name of its own`);
  }
  return parsed;
}

/** The same for everybody who fires the schedule for this time: there is one instance of an id. */
export function scheduledId({ name }: Pick<WorkflowSchedule, "name">, time: number): string {
  return `${name}:${new Date(time).toISOString()}`;
}

function parseSchedule(schedule: unknown, input: StandardSchemaV1 | null): WorkflowSchedule {
  const options = typeof schedule === "string" ? { cron: schedule } : schedule;
  checkOptions(options, { label: "A schedule", fields: FIELDS, code: "schedule.invalid" });
  const { cron, timezone = "UTC", params, name } = options as Record<string, unknown>;
  const times = new CronTimes(cron, timezone);
  checkParams(params, input);
  return { name: checkScheduleName(name ?? nameOf(times)), times, params };
}

function checkScheduleName(value: unknown): string {
  const name = checkId(value, "The name of a schedule");
  if (name.length <= LONGEST_NAME) return name;
  throw invalid(`The name of a schedule must have at most ${LONGEST_NAME} characters: give it one`);
}

/** What can be found out now needs not be found out in the night. A schema that is asynchronous is asked when it fires. */
function checkParams(params: unknown, input: StandardSchemaV1 | null): void {
  const checked = applySchema(input, params, "The params of a schedule", "params.invalid");
  if (isThenable(checked)) checked.catch(() => {});
  else encodeValue(checked, { label: "params" });
}

const IN_NAMES: Readonly<Record<string, string>> = {
  " ": "_",
  "*": "x",
  "?": "x",
  "/": ".",
  ",": ":",
  "#": "..",
  "+": "and",
};

/** What can be a part of an id, and tells the times: "0 9 * * *" is `0_9_x_x_x`. */
function nameOf({ cron, timezone }: CronTimes): string {
  const name = Array.from(cron.replace("@", ""), (character) => IN_NAMES[character] ?? character).join("");
  return timezone === "UTC" ? name : `${name}:${timezone.replaceAll(/[^A-Za-z0-9_.-]/g, "-")}`;
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("schedule.invalid", `${problem}.`);
}
