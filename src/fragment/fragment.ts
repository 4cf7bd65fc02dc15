import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import type { FragmentTables } from "../store/migration.ts";
import type { Store } from "../store/store.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import type { RunUnitOfWork } from "./define-fragment.ts";
import { runUnitOfWork } from "./unit-of-work.ts";
import { createWithin, type RunWithin } from "./within.ts";

export interface FragmentParts<Services> {
  readonly namespace: string;
  readonly tables: FragmentTables | null;
  readonly store: Store;
  readonly hooks: RegisteredHooks;
  readonly services: Services;
  readonly durableHooks: DurableHooks;
  readonly workflows: WorkflowRuntime | null;
}

/** An instantiated fragment: its services, and its hooks for operators. */
export class Fragment<Hooks extends HookDefinitions, Services> {
  readonly namespace: string;
  readonly services: Services;
  /** Runs a function in a transaction that can trigger this fragment's hooks. */
  readonly unitOfWork: RunUnitOfWork<Hooks>;
  /** Triggers hooks in a transaction that the application began. */
  readonly within: RunWithin<Hooks>;
  /** Lists, redrives, discards and cancels hooks. */
  readonly durableHooks: DurableHooks;
  /** @internal */
  readonly parts: FragmentParts<Services>;

  /** @internal */
  constructor(parts: FragmentParts<Services>) {
    this.parts = parts;
    this.namespace = parts.namespace;
    this.services = parts.services;
    this.unitOfWork = (body) => runUnitOfWork(parts, body);
    this.within = createWithin(parts.store, parts.hooks, parts.workflows);
    this.durableHooks = parts.durableHooks;
  }
}

/** Any fragment. */
export type AnyFragment = Fragment<never, unknown>;
