import type { Driver } from "./driver.ts";
import type { World } from "./world.ts";

/** What a program needs of `step`, on Cloudflare as here. */
export interface ProgramStep {
  do<Result>(
    name: string,
    callback: (ctx: StepContext) => Promise<Result>,
    rollback?: RollbackOptions<Result>,
  ): Promise<Result>;
  do<Result>(
    name: string,
    config: object,
    callback: (ctx: StepContext) => Promise<Result>,
    rollback?: RollbackOptions<Result>,
  ): Promise<Result>;
  sleep(name: string, duration: number | string): Promise<void>;
  sleepUntil(name: string, time: Date | number): Promise<void>;
  waitForEvent(
    name: string,
    options: { type: string; timeout?: number | string },
  ): Promise<{ payload: unknown; type: string; timestamp: Date }>;
}

export interface StepContext {
  readonly step: { readonly name: string; readonly count: number };
  readonly attempt: number;
  readonly config: unknown;
}

interface RollbackOptions<Result> {
  readonly rollback: (undone: {
    readonly ctx: StepContext;
    readonly error: Error;
    readonly output: Result | undefined;
  }) => Promise<void>;
  readonly rollbackConfig?: object;
}

export interface Begin {
  readonly payload: { readonly program: string; readonly [name: string]: unknown };
  readonly timestamp: Date;
  readonly instanceId: string;
  readonly workflowName: string;
}

export interface Program {
  readonly name: string;
  /** Returns what its steps gave, in whatever form shows it. */
  readonly run: (step: ProgramStep, event: Begin, world: World & Errors) => Promise<unknown>;
  /** Sent one after the other when the instance exists. */
  readonly events?: readonly { readonly type: string; readonly payload: unknown }[];
  /** What is done from outside, and what is seen there; instead of one instance that runs by itself. */
  readonly drive?: (driver: Driver) => Promise<object>;
}

/** Errors of the runtime that a program runs on. */
interface Errors {
  readonly NonRetryableError: new (message: string, name?: string) => Error;
}
