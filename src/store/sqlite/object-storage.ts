/** What is used of a Durable Object's state, taken structurally, so that no package with its types is needed. */
export interface ObjectState {
  readonly storage: ObjectStorage;
  blockConcurrencyWhile<Result>(body: () => Promise<Result>): Promise<Result>;
}

/** The storage of an object that has SQLite. */
export interface ObjectStorage {
  readonly sql: ObjectSql;
  transactionSync<Result>(body: () => Result): Result;
  /** Keeps all other events of the object waiting. */
  transaction<Result>(body: () => Promise<Result>): Promise<Result>;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number | Date): Promise<void>;
  deleteAlarm(): Promise<void>;
}

interface ObjectSql {
  exec(text: string, ...parameters: ObjectSqlValue[]): { toArray(): Record<string, ObjectSqlValue>[] };
}

type ObjectSqlValue = string | number | null | ArrayBuffer;
