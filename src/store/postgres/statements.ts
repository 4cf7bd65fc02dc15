import type { Clock } from "../../clock.ts";
import type { Companion } from "./connection/accompanied-query.ts";
import type { Connection } from "./connection/connection.ts";
import type { PostgresQueryable, PostgresResult } from "./connection/driver.ts";
import type { SchemaPrefix, Statement } from "./sql/statement.ts";

/** The base of all classes that run statements: a connection, the schema, the time. */
export class PostgresStatements {
  protected readonly connection: Connection;
  protected readonly clock: Clock;
  protected readonly schema: SchemaPrefix;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix) {
    this.connection = connection;
    this.clock = clock;
    this.schema = schema;
  }

  protected run(
    query: (schema: SchemaPrefix) => Statement,
    values: unknown[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<PostgresResult> {
    return this.connection.run(query(this.schema), values, on, carried);
  }

  /** The time of a controlled clock. With null the database uses its own. */
  protected now(): number | null {
    return this.clock.controlled ? this.clock.now() : null;
  }
}
