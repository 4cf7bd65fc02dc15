import type { Begin, Program } from "../program.ts";
import { BARE, CREATING } from "./creating.ts";
import { ERRORS } from "./errors.ts";
import { EVENTS } from "./events.ts";
import { LIFECYCLE } from "./lifecycle.ts";
import { RESTARTS } from "./restarts.ts";
import { ROLLBACKS } from "./rollbacks.ts";
import { STEPS } from "./steps.ts";
import { TELLING } from "./telling.ts";
import { VALUES } from "./values.ts";

/** Small workflows, each for one rule of the interface. What they come to must not depend on speed. */
export const PROGRAMS: readonly Program[] = [
  ...STEPS,
  ...VALUES,
  ...ERRORS,
  ...EVENTS,
  ...CREATING,
  ...LIFECYCLE,
  ...RESTARTS,
  ...ROLLBACKS,
  ...TELLING,
];

/** The one that an instance was created for. */
export function programOf({ payload }: Begin): Program {
  const program = PROGRAMS.find(({ name }) => name === (payload?.program ?? BARE));
  if (program === undefined) throw new Error("There is no such program.");
  return program;
}
