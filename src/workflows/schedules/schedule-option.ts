import type { StandardSchemaV1 } from "@standard-schema/spec";
import { InvalidInputError } from "../../errors.ts";
import { checkId } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import { applySchema, isThenable } from "../../schema.ts";
import { encodeValue } from "../../values/index.ts";
import { CronTimes } from "./cron-times.ts";

/** When a schedule creates instances: a cron expression in UTC, or an object with more options. */
export type ScheduleOption<Params = unknown> =
  | string
  | {
      readonly cron: string;
      /** The time zone of the cron expression, such as `Europe/Berlin`. Default: `UTC`. */
      readonly timezone?: string;
      /** The params of each instance. */
      readonly params?: Params;
      /**
       * At most 64 letters, digits and `. : _ -`, unique within the workflow. The ids of its instances begin with it. Give a
       * name if the times may change, so that the schedule stays the same. Default: made from the times.
       */
      readonly name?: string;
    };

/** A schedule of a workflow, as defined in code. */
export interface WorkflowSchedule {
  readonly name: string;
  readonly times: CronTimes;
  readonly params: unknown;
}

const LONGEST_NAME = 64;
const FIELDS = ["cron", "timezone", "params", "name"];

/** Checks the `schedules` option of a workflow. */
export function parseSchedules(schedules: unknown, input: StandardSchemaV1 | null): readonly WorkflowSchedule[] {
  if (schedules === undefined) return [];
  if (!Array.isArray(schedules))
    throw invalid("The schedules of a workflow must be an array: [cron, { cron, timezone }]");
  const parsed = schedules.map((schedule) => parseSchedule(schedule, input));
  const names = parsed.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw invalid(`Two schedules of a workflow have the name "${twice}": give each its own name`);
  }
  return parsed;
}

/** The id of the instance for this time. It is the same in every process, so only one instance is created. */
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

/**
 * Checks params when the workflow is defined, not first at night. An asynchronous schema is applied when the schedule fires.
 */
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

/** A name made from the times, usable in an id: "0 9 * * *" becomes `0_9_x_x_x`. */
function nameOf({ cron, timezone }: CronTimes): string {
  const name = Array.from(cron.replace("@", ""), (character) => IN_NAMES[character] ?? character).join("");
  return timezone === "UTC" ? name : `${name}:${timezone.replaceAll(/[^A-Za-z0-9_.-]/g, "-")}`;
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("schedule.invalid", `${problem}.`);
}
