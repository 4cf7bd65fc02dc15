import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);
const DEFAULT_PORT = 5432;

/**
 * How a request is lost: it never arrives, its answer never arrives, it arrives when the client has lost the connection, or the
 * connection stays open without an answer.
 */
export type Cut = "request" | "answer" | "late" | "silence";

interface ArmedCut {
  readonly text: string;
  readonly cut: Cut;
  readonly done: () => void;
}

interface Link {
  readonly client: Socket;
  /** None where the proxy was silent when the client came. */
  readonly server: Socket | undefined;
  silent: boolean;
  /** Answers that wait to be delivered. */
  readonly held: Buffer[];
  /** The answer to what was asked in vain, as far as it has come. */
  withheld: Buffer | undefined;
  /** What to do when the answer is whole. */
  cutDone: (() => void) | undefined;
  /** Whether the server spoke last. */
  answered: boolean;
}

const NARROW_TICK_MS = 20;
/** About as long as a client takes to connect again and to ask what has become of its request. */
const LATE_MS = 20;

/**
 * Stands between a client and PostgreSQL, and does what networks do where a test says so: cuts a connection in the middle of
 * what the two believe about each other, falls silent without closing it, delays answers, and lets them
 * through slowly.
 */
export class CuttingProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #links = new Set<Link>();
  #armed: ArmedCut[] = [];
  /** How many bytes clients may still say before all is silent. */
  #speech: { left: number; readonly done: () => void } | undefined;
  #roundTrips = 0;
  #bytesAsked = 0;
  #silent = false;
  #holding = false;
  /** The text of the first answer that waits. */
  #holdFrom: string | undefined;
  #narrow: { readonly bytes: number; readonly timer: NodeJS.Timeout } | undefined;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#connect(client));
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

  /** How many connections there are that aren't silent. */
  get connections(): number {
    return [...this.#links].filter(({ silent }) => !silent).length;
  }

  /** How many bytes clients have said. */
  get bytesAsked(): number {
    return this.#bytesAsked;
  }

  /** How often clients have asked something and waited for the answer. */
  get roundTrips(): number {
    return this.#roundTrips;
  }

  /**
   * Lets through as many bytes of what clients say, and falls silent, be it in the middle of a message. Resolves when it has.
   * New connections speak.
   */
  fallSilentAfter(bytes: number): Promise<void> {
    return new Promise((done) => {
      this.#speech = { left: bytes, done };
    });
  }

  /**
   * Cuts the connection on which a client next sends this text, once. By default PostgreSQL does what it was asked, to the end,
   * and its answer is thrown away. With `silence` it falls silent instead. Resolves when it has happened. Several may be armed
   * at a time.
   */
  cut(text: string, cut: Cut = "answer"): Promise<void> {
    return new Promise((done) => {
      this.#armed.push({ text, cut, done });
    });
  }

  /** Forgets the cuts that have not happened. */
  disarm(): void {
    this.#armed = [];
  }

  /** Cuts all connections now. */
  cutAll(): void {
    for (const link of this.#links) this.#destroy(link);
  }

  /** From now on no connection says a word in either direction, and none is closed. New ones are accepted into silence. */
  fallSilent(): void {
    this.#silent = true;
    for (const link of this.#links) link.silent = true;
  }

  /** New connections work again. Those that were silent stay so for ever, as when a firewall has forgotten them. */
  speakAgain(): void {
    this.#silent = false;
  }

  /** What clients say arrives; what they are answered waits. With a text, from the answer on that contains it. */
  holdAnswers(from?: string): void {
    this.#holdFrom = from;
    this.#holding = from === undefined;
  }

  /** What waited is delivered. */
  releaseAnswers(): void {
    this.#holding = false;
    this.#holdFrom = undefined;
    for (const { client, held } of this.#links) for (const chunk of held.splice(0)) client.write(chunk);
  }

  /** All answers together come at this many bytes a second, as through a narrow line; with null as they are. */
  limitBandwidth(bytesPerSecond: number | null): void {
    clearInterval(this.#narrow?.timer);
    this.#narrow = undefined;
    if (bytesPerSecond === null) {
      this.releaseAnswers();
      return;
    }
    const timer = setInterval(() => this.#drip(), NARROW_TICK_MS);
    this.#narrow = { bytes: Math.max(Math.round((bytesPerSecond * NARROW_TICK_MS) / 1000), 1), timer };
  }

  #drip(): void {
    let room = this.#narrow?.bytes ?? 0;
    for (const { client, held } of this.#links) {
      while (held.length > 0 && room > 0) {
        const chunk = held.shift() as Buffer;
        client.write(chunk.subarray(0, room));
        if (chunk.length > room) held.unshift(chunk.subarray(room));
        room -= chunk.length;
      }
    }
  }

  async stop(): Promise<void> {
    this.limitBandwidth(null);
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  #connect(client: Socket): void {
    const { port, hostname: host } = this.#target;
    const server = this.#silent ? undefined : connect({ port: Number(port || DEFAULT_PORT), host, noDelay: true });
    const state = { silent: this.#silent, held: [], withheld: undefined, cutDone: undefined, answered: true };
    const link: Link = { client, server, ...state };
    this.#links.add(link);
    client.on("data", (chunk) => this.#ask(link, chunk));
    server?.on("data", (chunk) => this.#answer(link, chunk));
    for (const socket of [client, server]) {
      socket?.on("error", () => {}); // the other end sees it too
      for (const event of ["end", "close"]) socket?.on(event, () => link.silent || this.#destroy(link));
    }
  }

  #ask(link: Link, chunk: Buffer): void {
    if (link.silent) return;
    const armed = link.withheld === undefined ? this.#takeArmed(chunk) : undefined;
    switch (armed?.cut) {
      case "request":
        return this.#cut(link, armed.done);
      case "silence":
        return this.#silence(link, armed.done);
      case "late":
        return this.#deliverLate(link, chunk, armed.done);
      case "answer":
        link.withheld = Buffer.alloc(0);
        link.cutDone = armed.done;
    }
    if (link.answered) this.#roundTrips++;
    link.answered = false;
    this.#bytesAsked += chunk.length;
    link.server?.write(this.#speech === undefined ? chunk : chunk.subarray(0, this.#speech.left));
    this.#fallSilentIfSaid(chunk.length);
  }

  #takeArmed(chunk: Buffer): ArmedCut | undefined {
    const armed = this.#armed.find(({ text }) => chunk.includes(text));
    if (armed !== undefined) this.#armed.splice(this.#armed.indexOf(armed), 1);
    return armed;
  }

  #fallSilentIfSaid(bytes: number): void {
    const speech = this.#speech;
    if (speech === undefined) return;
    speech.left -= bytes;
    if (speech.left > 0) return;
    this.#speech = undefined;
    for (const link of this.#links) link.silent = true;
    speech.done();
  }

  #answer(link: Link, chunk: Buffer): void {
    if (link.silent) return;
    link.answered = true;
    if (this.#holdFrom !== undefined && chunk.includes(this.#holdFrom)) this.holdAnswers();
    if (link.withheld !== undefined) {
      link.withheld = Buffer.concat([link.withheld, chunk]);
      const { length } = link.withheld;
      if (link.withheld.lastIndexOf(READY_FOR_QUERY) === length - READY_FOR_QUERY.length - 1)
        this.#cut(link, link.cutDone);
    } else if (this.#holding || this.#narrow !== undefined) {
      link.held.push(chunk);
    } else {
      link.client.write(chunk);
    }
  }

  #cut(link: Link, done: (() => void) | undefined): void {
    this.#destroy(link);
    done?.();
  }

  /** The network keeps the request for a while: the server carries it out for a client that believes that it was lost. */
  #deliverLate(link: Link, chunk: Buffer, done: () => void): void {
    link.silent = true;
    this.#links.delete(link);
    link.client.destroy();
    setTimeout(() => link.server?.end(chunk), LATE_MS);
    done();
  }

  #silence(link: Link, done: () => void): void {
    link.silent = true;
    done();
  }

  #destroy(link: Link): void {
    this.#links.delete(link);
    link.client.destroy();
    link.server?.destroy();
  }
}
