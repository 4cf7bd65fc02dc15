import { codeBetweenSteps, presentOwner } from "./execution/steps/step-scope.ts";

/** By execution, for its steps, and by the call of its function, for the code between them. */
const envs = new WeakMap<object, unknown>();

/** What is running: a step of an execution, or its function between steps. Undefined outside of workflows. */
export function presentRun(): object | undefined {
  return presentOwner() ?? codeBetweenSteps();
}

/** The env that the running workflow's class has as `this.env`. */
export function presentEnv(): unknown {
  const run = presentRun();
  return run === undefined ? undefined : envs.get(run);
}

/** The function of this execution, which calls this, and its steps have this env. */
export function provideEnv(execution: object, env: unknown): void {
  envs.set(execution, env);
  const code = codeBetweenSteps();
  if (code !== undefined) envs.set(code, env);
}
