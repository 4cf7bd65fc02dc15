import type { ObjectState } from "../../../src/store/sqlite/durable-object.ts";

/** Tests and what runs them load their modules by themselves, so this can't be a variable of one. */
const shared = globalThis as { objectUnderTest?: ObjectState };

/** Called at the beginning of everything that runs inside the object. */
export function enterObject(state: ObjectState): void {
  shared.objectUnderTest = state;
}

/** The state of the object that the running test is inside. */
export function presentObject(): ObjectState {
  if (shared.objectUnderTest === undefined) throw new Error("Nothing runs inside an object.");
  return shared.objectUnderTest;
}
