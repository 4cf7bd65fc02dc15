/** The part of `pg` that Perdure uses, as structural types: any driver of this shape works. */
export interface PostgresPool extends PostgresQueryable {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Called for each client when the pool hands it out. */
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
  /** The command that the server reports. */
  readonly command?: string;
}
