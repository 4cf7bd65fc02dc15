import { InvalidInputError } from "./errors.ts";

/** As long as limits may let them be: indexes of every database take them. */
export const LONGEST_WORKFLOW_NAME = 256;
export const LONGEST_STEP_NAME = 1024;
/** Of an instance, or the type of an event. */
export const LONGEST_ID = 400;
/** Where no limit is to be set, and of an instance at least: that long are ids that are made for schedules. */
export const USUAL_ID = 100;
const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ID = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what we look for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** The id of an instance, as limits let it be. */
export function checkInstanceId(value: unknown, { maxInstanceId }: { readonly maxInstanceId: number }): string {
  return checkId(value, "The id of an instance", maxInstanceId);
}

/** A workflow's definition doesn't know the limit of the application that will register it. */
export function checkWorkflowName(value: unknown, longest: number = LONGEST_WORKFLOW_NAME): string {
  if (isText(value, longest) && WORKFLOW_NAME.test(value)) return value;
  throw new InvalidInputError(
    "workflow.invalid_name",
    `The name of a workflow must be 1 to ${longest} letters, digits, _ and -, and must not start with -; got ${show(value)}.`,
  );
}

/** Of an instance, an event, the type of an event, or a schedule. */
export function checkId(value: unknown, label: string, longest: number = USUAL_ID): string {
  if (isText(value, longest) && ID.test(value)) return value;
  throw new InvalidInputError(
    "id.invalid",
    `${label} must be 1 to ${longest} letters, digits and . : _ - and must not start with . : or -; got ${show(value)}.`,
  );
}

export function checkStepName(value: unknown, longest: number, label: string = "The name of a step"): string {
  if (isText(value, longest) && value.isWellFormed() && !CONTROL_CHARACTER.test(value)) return value;
  throw new InvalidInputError(
    "step.invalid_name",
    `${label} must be a text of 1 to ${longest} characters without control characters; got ${show(value)}.`,
  );
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= longest;
}

function show(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `a value of type ${typeof value}`;
  return value.length > 40
    ? `${JSON.stringify(value.slice(0, 40))}… (${value.length} characters)`
    : JSON.stringify(value);
}
