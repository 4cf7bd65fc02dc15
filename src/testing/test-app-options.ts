import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { DurableHooksOptions } from "../hooks/hook-settings.ts";
import type { Logger } from "../logger.ts";
import { invalidOption } from "../options.ts";
import type { SubjectsDefinition } from "../subjects/define-subjects.ts";
import { timeOfDate } from "../values/index.ts";
import type { EnvOption } from "../workflows/define/registered-workflows.ts";
import {
  parseWorkflowLimits,
  type WorkflowLimits,
  type WorkflowSettings,
} from "../workflows/define/workflow-settings.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";

export interface TestAppOptions<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  extends DurableHooksOptions {
  readonly hooks?: Hooks;
  /** By key: made by `defineWorkflow`, a class, or `{ name, workflow }`. */
  readonly workflows?: Registry;
  /** The `env` of workflows: a value, or a function of the workflows. */
  readonly env?: EnvOption;
  readonly workflowLimits?: WorkflowLimits;
  /** By dispatcher id, made by `defineSubjects`. */
  readonly subjects?: Readonly<Record<string, SubjectsDefinition>>;
  /** Default: `app`. */
  readonly namespace?: string;
  /** SQL that creates the application's own tables. */
  readonly tables?: string;
  /** The same seed gives the same ids and the same waits between retries. Default: 1. */
  readonly seed?: number;
  /** The time at the start. Default: noon of the 6th of May 2031, UTC. */
  readonly startAt?: Date | number;
  /** How many handlers and workflows run at a time. Default: 100. */
  readonly concurrency?: number;
  /** For how long a process that has crashed holds its work. Default: 30,000. */
  readonly leaseMs?: number;
  /** Default: none; `errors` has the errors of handlers. */
  readonly logger?: Logger;
}

export interface TestAppSettings<Hooks extends HookDefinitions, Registry extends Workflows> {
  readonly hooks: Hooks;
  readonly workflows: Registry;
  readonly env: EnvOption;
  readonly workflowSettings: WorkflowSettings;
  readonly subjects: Readonly<Record<string, SubjectsDefinition>>;
  readonly namespace: string;
  readonly tables: string | undefined;
  readonly seed: number;
  readonly startAt: number;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly durableHooks: DurableHooksOptions;
}

/** Every option there is. */
export const TEST_APP_FIELDS: readonly string[] = Object.keys({
  hooks: 0,
  workflows: 0,
  env: 0,
  workflowLimits: 0,
  subjects: 0,
  namespace: 0,
  tables: 0,
  seed: 0,
  startAt: 0,
  concurrency: 0,
  leaseMs: 0,
  logger: 0,
  stuckProcessingTimeoutMinutes: 0,
  onStuckProcessingHooks: 0,
  onAlert: 0,
  keepCompleted: 0,
  maxPayloadBytes: 0,
  captureTraceContext: 0,
  telemetry: 0,
} satisfies Record<keyof TestAppOptions<HookDefinitions>, 0>);

const START = Date.UTC(2031, 4, 6, 12);
const LATEST_START = Date.UTC(9000, 0, 1);
const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** Checks what only a test gives; the rest is checked by what it is passed on to. */
export function parseTestAppOptions<Hooks extends HookDefinitions, Registry extends Workflows>(
  options: TestAppOptions<Hooks, Registry>,
): TestAppSettings<Hooks, Registry> {
  if (typeof options !== "object" || options === null) {
    throw invalidOption("createTestApp takes an object: createTestApp({ hooks, workflows })");
  }
  const { hooks, namespace = "app", tables, seed = 1, startAt = START, logger = silentLogger, ...rest } = options;
  const { concurrency = 100, leaseMs = 30_000, workflows, env, workflowLimits, ...others } = rest;
  const { subjects = {}, ...durableHooks } = others;
  if (tables !== undefined && typeof tables !== "string") throw invalidOption("tables must be SQL, as a text");
  const start = timeOfDate(startAt) ?? startAt;
  return {
    hooks: (hooks ?? {}) as Hooks,
    workflows: (workflows ?? {}) as Registry,
    env,
    // A forced timeout takes no time; other waits are checked by the rehearsal.
    workflowSettings: { ...parseWorkflowLimits(workflowLimits), minEventTimeoutMs: 0 },
    subjects,
    namespace,
    tables,
    logger,
    durableHooks,
    seed: checkNumber("seed", seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    startAt: checkNumber("startAt", start, 0, LATEST_START),
    concurrency: checkNumber("concurrency", concurrency, 1, 100_000),
    leaseMs: checkNumber("leaseMs", leaseMs, 1000, 3_600_000),
  };
}

function checkNumber(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(`${name} must be a whole number from ${least} to ${most}`);
}
