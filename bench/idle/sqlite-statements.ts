import { DatabaseSync, StatementSync } from "node:sqlite";

const RUNS = ["all", "get", "iterate", "run"] as const;

/** Counts the statements that this process runs by `node:sqlite`, on any database. */
export function countSqliteStatements(): Disposable & { readonly count: number } {
  let count = 0;
  const restore: (() => void)[] = [];
  const patch = <Methods extends object>(methods: Methods, name: keyof Methods) => {
    const original = methods[name] as (...values: unknown[]) => unknown;
    methods[name] = function (this: Methods, ...values: unknown[]) {
      count++;
      return original.apply(this, values);
    } as Methods[typeof name];
    restore.push(() => {
      methods[name] = original as Methods[typeof name];
    });
  };
  for (const name of RUNS) patch(StatementSync.prototype, name);
  patch(DatabaseSync.prototype, "exec");
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]() {
      for (const undo of restore) undo();
    },
  };
}
