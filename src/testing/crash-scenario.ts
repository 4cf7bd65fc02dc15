import type { Duration } from "../duration.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import type { CrashMoment } from "./commit-points.ts";
import type { TestApp } from "./test-app.ts";
import type { TestAppOptions } from "./test-app-options.ts";

/** The result of `setUp`: the options of `createTestApp`, and anything else that the scenario needs. */
export type CrashWorld = TestAppOptions<HookDefinitions, Workflows>;

/** The application of such a world. */
export type CrashApp<World extends CrashWorld> = TestApp<
  World extends { readonly hooks: infer Hooks extends HookDefinitions } ? Hooks : Record<never, never>,
  World extends { readonly workflows: infer Registry extends Workflows } ? Registry : Record<never, never>
>;

/** Something that the application does, to be tried with a crash at each of its commits. */
export interface CrashScenario<World extends CrashWorld, Outcome> {
  /** Makes a new world for each run: the hooks and workflows, and stand-ins for everything outside the database. */
  readonly setUp: () => World | Promise<World>;
  /** The actions of the process that crashes. It stops where it stands; a new process then finishes the accepted work. */
  readonly run: (app: CrashApp<World>, world: World) => Promise<unknown>;
  /** Returns the outcome when all work is done. Outcomes are compared by value. */
  readonly check: (app: CrashApp<World>, world: World) => Outcome | Promise<Outcome>;
}

export interface ExploreOptions {
  /**
   * Whether the new process calls `run` again if it had not come to its end, as a client does that got no answer, or a queue
   * that got no acknowledgement. Default: false.
   */
  readonly runAgain?: boolean;
  /** How much time passes before `check`, at most. Default: `1 day`. */
  readonly finishWithin?: Duration;
  /** The most runs; a scenario that needs more is refused. Default: 1000. */
  readonly maxRuns?: number;
}

/** Where a run crashed. */
export interface CrashPoint {
  /** Which commit, counted from 1; 0 where there was no crash. */
  readonly commit: number;
  readonly when: CrashMoment | "never";
  /** A description of the write. */
  readonly during: string;
}

export interface CrashReport<Outcome> {
  /** How many times the scenario ran, without a crash included. */
  readonly runs: number;
  /** The different outcomes; the first is that without a crash. One means that crashes make no difference. */
  readonly outcomes: readonly {
    readonly outcome: Outcome;
    /** The runs that came out like this. */
    readonly crashes: readonly CrashPoint[];
  }[];
}
