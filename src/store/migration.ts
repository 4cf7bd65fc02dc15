import type { Dialect } from "./dialect.ts";

/** One step of a schema, numbered from 1 within its owner. Applied once, in order, never changed after its release. */
export interface Migration {
  /** `perdure` for the library's own tables, the namespace of a fragment for the tables that it owns. */
  readonly owner: string;
  readonly number: number;
  readonly name: string;
  /** Whether code that doesn't know this migration must not touch the database any more. */
  readonly breaking: boolean;
  /** Statements, separated by semicolons. */
  readonly sql: string;
}

export interface AppliedMigration {
  readonly owner: string;
  readonly number: number;
  readonly name: string;
  readonly breaking: boolean;
}

/** Tables that a fragment owns: ordered SQL per dialect. The number of a migration is its index in the list, counted from 1. */
export interface FragmentTables {
  readonly migrations: readonly FragmentMigration[];
}

export type FragmentMigration = { readonly name: string; readonly breaking?: boolean } & Readonly<
  Record<Dialect, string>
>;
