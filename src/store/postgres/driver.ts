/** What we use of `pg`, taken structurally: any driver of this shape will do. */
export interface PostgresPool extends PostgresQueryable {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Told of each client at the moment at which it is handed to somebody. */
  on(event: "acquire", listener: (client: PostgresClient) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "acquire", listener: (client: PostgresClient) => void): unknown;
  readonly options?: { readonly max?: number | undefined };
}

export interface PostgresClient extends PostgresQueryable {
  release(destroy?: Error | boolean): void;
  /** Lets the process end while this connection is open. */
  unref?(): void;
  on(event: "error" | "end", listener: (error: Error) => void): unknown;
  on(event: "notification", listener: (message: { channel: string; payload?: string | undefined }) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

export interface PostgresQueryable {
  query(query: PostgresQuery): Promise<PostgresResult>;
}

export interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  /** How long to wait for an answer, in milliseconds. */
  readonly query_timeout?: number;
}

export interface PostgresResult {
  readonly rows: Record<string, unknown>[];
  readonly rowCount: number | null;
  /** What the server says that it did. */
  readonly command?: string;
}
