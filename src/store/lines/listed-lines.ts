import { toNumber, toNumberOrNull } from "../rows.ts";
import type { Line, LineKind } from "./line-records.ts";

/** A page of the lines of a namespace, in the order of their keys. */
export interface LineQuery {
  readonly namespace: string;
  readonly kind: LineKind;
  /** Lines after this key; empty for the first page. */
  readonly after: string;
  readonly limit: number;
  /** How many of those inside, and of those that wait, are named. */
  readonly members: number;
}

export interface LineMember {
  /** Of the workflow. */
  readonly name: string;
  readonly id: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
}

/** A line and who is in it. Both numbers are counted up to `MOST_COUNTED`. */
export interface ListedLine extends Line {
  /** When a worker looks at it next; null while it waits for a slot, or for a member that sleeps. */
  readonly lookAt: number | null;
  readonly held: number;
  readonly holders: readonly LineMember[];
  readonly waiting: number;
  /** Those that are admitted first. */
  readonly next: readonly LineMember[];
}

export const MOST_COUNTED = 1000;

type Row = Record<string, unknown>;

export function toLine(row: Row): Line & Pick<ListedLine, "lookAt"> {
  return {
    kind: toNumber(row.kind) as LineKind,
    key: row.key as string,
    namespace: row.namespace as string,
    name: row.name as string,
    lookAt: toNumberOrNull(row.available_at),
  };
}

export function toLineMember(row: Row): LineMember {
  return {
    name: row.name as string,
    id: row.id as string,
    createdAt: toNumber(row.created_at),
    startedAt: toNumberOrNull(row.started_at),
  };
}
