import type { Clock, Timer } from "../../clock.ts";
import type { Randomness } from "../../randomness.ts";
import type { Wakeups } from "../engine.ts";
import type { Companion } from "./accompanied-query.ts";
import type { Connection } from "./connection.ts";
import type { PostgresClient } from "./driver.ts";
import { ANSWER_TIMEOUT_MS } from "./limits.ts";

const ANNOUNCE_INTERVAL_MS = 10;
/** What a write carries makes all such commits wait for each other, so it is for the first of a while. */
const CARRY_INTERVAL_MS = 50;
const NOTIFY_TRIES = 3;
const FIRST_RECONNECT_MS = 100;
const LONGEST_RECONNECT_MS = 10_000;
/** One a minute at most: with two polls and a purge, an idle process stays at four statements in any minute. */
const PING_INTERVAL_MS = 60_000;

/** Gives no rows. */
const CARRY = "select from (select pg_notify($1, $2)::text as sent offset 0) as notice where notice.sent is null";

type Listener = (namespaces: readonly string[] | null) => void;

/**
 * LISTEN and NOTIFY on one channel per schema. Announcements are sent outside of transactions, because a NOTIFY inside one
 * makes all commits wait for each other, and at most every few milliseconds, with a last one for what came in between. Only the
 * first write of a while carries its own (`carry`), because the process may end before it could send one: who hears of that
 * one looks once more after a moment. After each (re)connection listeners are told to look for themselves: they may have missed something.
 */
export class PostgresWakeups implements Wakeups {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly channel: string;
  /** Told once when listening fails, and again only after it has worked in between. */
  readonly #onDeaf: (error: Error) => void;
  readonly #listeners = new Set<Listener>();
  #deaf = false;
  #client: PostgresClient | undefined;
  #generation = 0;
  #timer: Timer | undefined;
  #announced = new Set<string>();
  #throttle: Timer | undefined;
  #sending: Promise<void> = Promise.resolve();
  #carryAt = Number.NEGATIVE_INFINITY;
  /** What a write has just announced by itself. */
  readonly #carried = new Set<string>();

  constructor(
    connection: Connection,
    clock: Clock,
    randomness: Randomness,
    channel: string,
    onDeaf: (error: Error) => void,
  ) {
    this.#onDeaf = onDeaf;
    this.#connection = connection;
    this.#clock = clock;
    this.#randomness = randomness;
    this.channel = channel;
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  /** The listening connection, which nobody else keeps busy. */
  get client(): PostgresClient | undefined {
    return this.#client;
  }

  /** It didn't answer somebody: make another. */
  distrust(client: PostgresClient): void {
    if (client === this.#client) this.#reconnect(this.#generation, FIRST_RECONNECT_MS);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#connect(++this.#generation, FIRST_RECONNECT_MS);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#disconnect();
    };
  }

  /** What a write is to carry that makes work due in these namespaces; null if that is too often. */
  carry(namespaces: readonly string[]): Companion | null {
    const now = this.#clock.monotonic();
    if (namespaces.length === 0 || now < this.#carryAt) return null;
    this.#carryAt = now + CARRY_INTERVAL_MS;
    const names = [...new Set(namespaces)];
    const values = [this.channel, JSON.stringify(names).slice(0, 7000)];
    return { name: "carry", text: CARRY, values, onDone: () => this.#delivered(names) };
  }

  announce(namespace: string): void {
    if (this.#carried.has(namespace)) return;
    this.#announced.add(namespace);
    if (this.#throttle === undefined) this.#sendAnnouncements();
  }

  /** Sends what is left to say before the connections go. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#disconnect();
    this.#throttle?.cancel();
    this.#sendAnnouncements();
    this.#throttle?.cancel();
    await this.#sending;
  }

  /** Who wrote it announces it in this turn of the event loop, and needn't any more. */
  #delivered(namespaces: readonly string[]): void {
    for (const namespace of namespaces) this.#carried.add(namespace);
    this.#clock.defer(() => this.#carried.clear());
  }

  #sendAnnouncements(): void {
    this.#throttle = undefined;
    if (this.#announced.size === 0) return;
    const payload = JSON.stringify([...this.#announced]).slice(0, 7000);
    this.#announced.clear();
    this.#throttle = this.#clock.setTimer(() => this.#sendAnnouncements(), ANNOUNCE_INTERVAL_MS);
    this.#sending = Promise.all([this.#sending, this.#notify(payload)]).then(() => {});
  }

  /** After a restart of the server the first connections that a pool gives may be dead. If the server is, polling finds it. */
  async #notify(payload: string): Promise<void> {
    const notify = { name: "notify", text: "select pg_notify($1, $2)", planOnce: true } as const;
    for (let tries = 0; tries < NOTIFY_TRIES; tries++) {
      const sent = await this.#connection.run(notify, [this.channel, payload]).catch(() => null);
      if (sent !== null) return;
    }
  }

  async #connect(generation: number, retryMs: number): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.#connection.checkOut();
      if (generation !== this.#generation) return client.release();
      client.on("error", () => this.#reconnect(generation, FIRST_RECONNECT_MS));
      client.on("end", () => this.#reconnect(generation, FIRST_RECONNECT_MS));
      client.on("notification", ({ channel, payload }) => {
        if (channel === this.channel) this.#tell(parseNamespaces(payload));
      });
      await this.#connection.query({ text: `listen "${this.channel}"`, query_timeout: ANSWER_TIMEOUT_MS }, client);
      if (generation !== this.#generation) return client.release(true);
      this.#client = client;
      this.#deaf = false;
      this.#schedulePing(generation, client);
      this.#tell(null);
    } catch (error) {
      client?.release(true);
      if (generation !== this.#generation) return;
      if (!this.#deaf) this.#onDeaf(error as Error);
      this.#deaf = true;
      this.#reconnect(generation, Math.min(retryMs * 2, LONGEST_RECONNECT_MS));
    }
  }

  /** A connection that is cut without a word looks open for hours: asking it something now and then finds out. */
  #schedulePing(generation: number, client: PostgresClient): void {
    this.#timer = this.#clock.setTimer(
      () => {
        const deadline = this.#clock.setTimer(
          () => this.#reconnect(generation, FIRST_RECONNECT_MS),
          PING_INTERVAL_MS / 3,
        );
        this.#connection
          .query({ text: "select" }, client)
          .then(() => generation === this.#generation && this.#schedulePing(generation, client))
          .catch(() => this.#reconnect(generation, FIRST_RECONNECT_MS))
          .finally(() => deadline.cancel());
      },
      PING_INTERVAL_MS * (1 + this.#randomness.fraction() / 4),
    );
  }

  #reconnect(generation: number, delayMs: number): void {
    if (generation !== this.#generation) return;
    this.#disconnect();
    if (this.#listeners.size === 0) return;
    const next = this.#generation;
    const delay = delayMs * (1 + this.#randomness.fraction());
    this.#timer = this.#clock.setTimer(() => void this.#connect(next, delayMs), delay);
  }

  #disconnect(): void {
    this.#generation++;
    this.#timer?.cancel();
    this.#client?.release(true);
    this.#client?.unref?.(); // a server that is out of reach never says goodbye
    this.#client = undefined;
  }

  #tell(namespaces: readonly string[] | null): void {
    for (const listener of this.#listeners) listener(namespaces);
  }
}

/** Anybody may notify our channel; what we don't understand means "look everywhere". */
function parseNamespaces(payload: string | undefined): string[] | null {
  try {
    const parsed: unknown = JSON.parse(payload ?? "null");
    return Array.isArray(parsed) ? parsed.map(String) : null;
  } catch {
    return null;
  }
}
