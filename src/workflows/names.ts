import { InvalidInputError } from "../errors.ts";

const LONGEST_WORKFLOW_NAME = 64;
const LONGEST_ID = 100;
const LONGEST_STEP_NAME = 256;
const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ID = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what we look for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

export function checkWorkflowName(value: unknown): string {
  if (isText(value, LONGEST_WORKFLOW_NAME) && WORKFLOW_NAME.test(value)) return value;
  throw new InvalidInputError(
    "workflow.invalid_name",
    `The name of a workflow must be 1 to ${LONGEST_WORKFLOW_NAME} letters, digits, _ and -, and must not start with -; got ${show(value)}.`,
  );
}

/** Of an instance, an event, or the type of an event. */
export function checkId(value: unknown, label: string): string {
  if (isText(value, LONGEST_ID) && ID.test(value)) return value;
  throw new InvalidInputError(
    "id.invalid",
    `${label} must be 1 to ${LONGEST_ID} letters, digits and . : _ - and must not start with . : or -; got ${show(value)}.`,
  );
}

export function checkStepName(value: unknown, label: string = "The name of a step"): string {
  if (isText(value, LONGEST_STEP_NAME) && value.isWellFormed() && !CONTROL_CHARACTER.test(value)) return value;
  throw new InvalidInputError(
    "step.invalid_name",
    `${label} must be a text of 1 to ${LONGEST_STEP_NAME} characters without control characters; got ${show(value)}.`,
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
