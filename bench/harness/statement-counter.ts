import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy before PostgreSQL that counts the statements sent through it. */
export interface StatementCounter extends AsyncDisposable {
  /** The same database, through the proxy. */
  readonly url: string;
  readonly count: number;
}

const QUERY = "Q".charCodeAt(0);
const EXECUTE = "E".charCodeAt(0);

/**
 * Counts the requests of clients: each simple Query and each Execute of the wire protocol, whether a poll, a heartbeat, a
 * LISTEN, a BEGIN or a COMMIT. Unlike pg_stat_database this counts statements rather than transactions, sees no autovacuum, and
 * doesn't lag. The connection through it is not encrypted.
 */
export async function countStatements(databaseUrl: string): Promise<StatementCounter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let count = 0;

  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    const parse = createParser((type) => {
      if (type === QUERY || type === EXECUTE) count++;
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    client.on("data", parse);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  url.searchParams.delete("sslmode");
  return {
    url: url.href,
    get count() {
      return count;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Splits a client's stream into messages: first a start-up message (length, body), then messages of (type, length, body). */
function createParser(onMessage: (type: number) => void): (chunk: Buffer) => void {
  let started = false;
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = started ? 1 : 0;
      if (rest.length < header + 4) return;
      const end = header + rest.readInt32BE(header);
      if (rest.length < end) return;
      if (started) onMessage(rest[0] as number);
      started = true;
      rest = rest.subarray(end);
    }
  };
}
