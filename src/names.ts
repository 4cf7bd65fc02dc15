import { InvalidInputError } from "./errors.ts";

/** The most characters that limits can allow. The indexes of every database accept that many. */
export const LONGEST_WORKFLOW_NAME = 256;
export const LONGEST_STEP_NAME = 1024;
/** The default limit for ids of instances, and for types of events. */
export const LONGEST_ID = 400;
/**
 * For ids that have no setting, and the least limit for ids of instances, because generated ids of scheduled instances need it.
 */
export const USUAL_ID = 100;
const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ID = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** Checks the id of an instance against the application's limit. */
export function checkInstanceId(value: unknown, { maxInstanceId }: { readonly maxInstanceId: number }): string {
  return checkId(value, "The id of an instance", maxInstanceId);
}

/** A workflow's definition doesn't know the limit of the application that will register it. */
export function checkWorkflowName(value: unknown, longest: number = LONGEST_WORKFLOW_NAME): string {
  if (isWorkflowName(value, longest)) return value;
  throw new InvalidInputError(
    "workflow.invalid_name",
    `The name of a workflow must be 1 to ${longest} letters, digits, _ and -, and must not start with -; got ${show(value)}.`,
  );
}

/** Whether there can be a workflow of this name. */
export function isWorkflowName(value: unknown, longest: number = LONGEST_WORKFLOW_NAME): value is string {
  return isText(value, longest) && WORKFLOW_NAME.test(value);
}

/** Checks an id of an instance, an event or a schedule, or the type of an event. */
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
