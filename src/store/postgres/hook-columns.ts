import type { HookInsert, HookLease, HookReference } from "../hooks/hook-records.ts";
import { textArray } from "./array-literals.ts";

/** Rows as columns: a batch is given to PostgreSQL as one array for each column. */
export function referenceColumns(references: readonly HookReference[]): string[] {
  return [textArray(references.map(({ namespace }) => namespace)), textArray(references.map(({ id }) => id))];
}

export function leaseColumns(leases: readonly HookLease[]): string[] {
  return [...referenceColumns(leases), textArray(leases.map(({ lock }) => lock))];
}

export function hookColumns(hooks: readonly HookInsert[]): unknown[] {
  return [
    ...referenceColumns(hooks),
    hooks.map((hook) => hook.name),
    hooks.map((hook) => hook.payload),
    hooks.map((hook) => hook.retries),
    hooks.map((hook) => hook.trace),
    hooks.map((hook) => hook.processAt),
    hooks.map((hook) => hook.lease?.lock ?? null),
    hooks.map((hook) => hook.lease?.leaseMs ?? null),
    hooks.map((hook) => hook.ownId),
    hooks.map((hook) => hook.line?.lineKey ?? null),
    hooks.map((hook) => hook.line?.rateKey ?? null),
  ];
}
