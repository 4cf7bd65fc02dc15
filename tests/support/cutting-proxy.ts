import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);
const DEFAULT_PORT = 5432;

/** What was asked in vain: the request never came, or the answer never came back. */
export type Cut = "request" | "answer";

/**
 * Stands between a client and PostgreSQL, and cuts a connection where a test says so: in the middle of what the two believe
 * about each other.
 */
export class CuttingProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #armed: { text: string; cut: Cut } | undefined;
  #done: (() => void) | undefined;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client));
  }

  static async start(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(url));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The same database, through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy isn't listening.");
    url.host = `127.0.0.1:${address.port}`;
    return url.href;
  }

  /**
   * Cuts the connection on which a client next sends this text, once. By default PostgreSQL does what it was asked, to the end,
   * and its answer is thrown away. Resolves when it has happened.
   */
  cut(text: string, cut: Cut = "answer"): Promise<void> {
    this.#armed = { text, cut };
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  /** Cuts all connections now. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  #connect(client: Socket): void {
    const server = connect(Number(this.#target.port || DEFAULT_PORT), this.#target.hostname);
    let withheld: Buffer | undefined;
    const cut = () => {
      client.destroy();
      server.destroy();
      this.#done?.();
    };
    client.on("data", (chunk) => {
      const armed = this.#armed !== undefined && chunk.includes(this.#armed.text) ? this.#armed.cut : undefined;
      if (armed !== undefined) this.#armed = undefined;
      if (armed === "request") return cut();
      if (armed === "answer") withheld = Buffer.alloc(0);
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (withheld === undefined) return client.write(chunk);
      withheld = Buffer.concat([withheld, chunk]);
      if (withheld.lastIndexOf(READY_FOR_QUERY) === withheld.length - READY_FOR_QUERY.length - 1) cut();
      return undefined;
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {}); // the other end sees it too
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
