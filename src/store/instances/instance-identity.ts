import type { Receipt } from "../request-statements.ts";

/** Names an instance as people do. */
export interface InstanceName {
  readonly namespace: string;
  /** Of the workflow. */
  readonly name: string;
  readonly id: string;
}

/** An instance to which something is done. */
export interface InstanceTarget extends InstanceName {
  /** Where something must be done to this run or not at all: to any other the answer is that there is no such instance. */
  readonly only?: InstanceRun;
  /** Written with the change. Where it is there already, nothing is done, and the answer is that it was repeated. */
  readonly receipt?: Receipt;
}

/** One run of an instance. `ref` is ours: made when the instance is created, and never used again. */
export interface InstanceRun {
  readonly ref: string;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
}

/** A run of a named instance. Stored values are bound to the name, so reading and writing them takes both. */
export interface NamedRun extends InstanceRun {
  readonly instance: InstanceName;
}

/** A run and the token that fences every write of its present owner. */
export interface InstanceLease extends InstanceRun {
  readonly lock: string;
}

/** The same of a named instance. */
export interface NamedLease extends InstanceLease, NamedRun {}
