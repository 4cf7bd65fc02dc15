export type { CrashMoment } from "./commit-points.ts";
export { ControlledClock } from "./controlled-clock.ts";
export type { CrashApp, CrashPoint, CrashReport, CrashScenario, CrashWorld, ExploreOptions } from "./crash-scenario.ts";
export { exploreCrashes } from "./explore-crashes.ts";
export {
  introspectWorkflow,
  introspectWorkflowInstance,
  type WorkflowInstanceIntrospector,
  type WorkflowIntrospector,
} from "./introspection/introspect.ts";
export type { StepTarget, WorkflowInstanceModifier } from "./introspection/modifications.ts";
export { type RecordedHistory, type ReplayOptions, type ReplayReport, replay } from "./replay/replay.ts";
export { seededRandomness } from "./seeded-randomness.ts";
export { createTestApp, type TestApp } from "./test-app.ts";
export type { TestAppOptions } from "./test-app-options.ts";
export type { TestAppError } from "./test-world.ts";
