import type { Clock, Timer } from "../../../clock.ts";
import type { Randomness } from "../../../randomness.ts";
import type { Wakeups } from "../../engine.ts";
import { isTopic, type Topic } from "../../queue/work-board.ts";
import type { Companion } from "./accompanied-query.ts";
import type { Connection } from "./connection.ts";
import type { PostgresClient } from "./driver.ts";
import { ANSWER_TIMEOUT_MS } from "./limits.ts";

const ANNOUNCE_INTERVAL_MS = 10;
/** Commits that carry a notification wait for each other, so only one write in this time carries one. */
const CARRY_INTERVAL_MS = 50;
const NOTIFY_TRIES = 3;
const FIRST_RECONNECT_MS = 100;
const LONGEST_RECONNECT_MS = 10_000;
/** One a minute at most: with two polls and a purge, an idle process stays at four statements in any minute. */
const PING_INTERVAL_MS = 60_000;

/** Returns no rows. */
const CARRY = "select from (select pg_notify($1, $2)::text as sent offset 0) as notice where notice.sent is null";

type Listener = (namespaces: readonly string[] | null) => void;

/**
 * LISTEN and NOTIFY on one channel per schema. Announcements are sent outside transactions, because transactions with a
 * NOTIFY wait for each other when they commit. They are sent at most every few milliseconds, with a last one for those that
 * came in between. Only the first write in a while carries its own (`carry`), because the process may end before it can send
 * one. A commit that finishes an instance and is alone in its flush also carries its own (`carryEnd`), so that one workflow at
 * a time sends no statement besides its commits. A listener that receives it looks again a moment later. After each connect
 * listeners are told to look everywhere: they may have missed something.
 */
export class PostgresWakeups implements Wakeups {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly channel: string;
  /** Called when listening fails, and again only after it has worked in between. */
  readonly #onDeaf: (error: Error) => void;
  readonly #listeners = new Set<Listener>();
  #deaf = false;
  #client: PostgresClient | undefined;
  #generation = 0;
  #timer: Timer | undefined;
  /** What is to be announced, each with the number of its last announcement. */
  readonly #announced = new Map<string, number>();
  #announcements = 0;
  #throttle: Timer | undefined;
  #sending: Promise<void> = Promise.resolve();
  #carryAt = Number.NEGATIVE_INFINITY;
  /** Namespaces that a write has just announced itself. */
  readonly #carried = new Set<string>();
  /** The topic of an end that its commit has just announced itself. */
  #carriedEnd: Topic | null = null;
  #carryEndAt = Number.NEGATIVE_INFINITY;
  /** Sends what no commit has carried. */
  #patience: Timer | undefined;

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

  /** The listening connection. Only renewals use it besides. */
  get client(): PostgresClient | undefined {
    return this.#client;
  }

  /** Replaces a connection that didn't answer. */
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

  /** The notification that a write in these namespaces carries, or null if the last one was a moment ago. */
  carry(namespaces: readonly string[]): Companion | null {
    const now = this.#clock.monotonic();
    if (namespaces.length === 0 || now < this.#carryAt) return null;
    this.#carryAt = now + CARRY_INTERVAL_MS;
    const names = [...new Set(namespaces)];
    return {
      name: "carry",
      text: CARRY,
      values: [this.channel, toPayload(names)],
      onDone: () => this.#delivered(names),
    };
  }

  /** The same for an end. It takes with it what has been announced since the last one, and not been sent. */
  carryEnd(topic: Topic): Companion | null {
    const now = this.#clock.monotonic();
    if (now < this.#carryEndAt) return null;
    this.#carryEndAt = now + ANNOUNCE_INTERVAL_MS;
    const latest = this.#announcements;
    const names = [...new Set([topic, ...this.#announced.keys()])];
    const onDone = () => {
      for (const name of names) if ((this.#announced.get(name) ?? 0) <= latest) this.#announced.delete(name);
      if (this.#announced.size === 0) this.#endPatience();
      this.#carriedEnd = topic;
      this.#clock.defer(() => {
        this.#carriedEnd = null;
      });
    };
    return { name: "carry", text: CARRY, values: [this.channel, toPayload(names)], onDone };
  }

  announce(name: string | Topic): void {
    if (this.#carried.has(name)) return;
    if (this.#carriedEnd === name) {
      this.#carriedEnd = null; // the next may be another end
      return;
    }
    this.#announced.set(name, ++this.#announcements);
    if (this.#throttle !== undefined) return;
    // A moment after an end that its commit has carried, the next end may carry this one.
    const waitMs = isTopic(name) ? this.#carryEndAt + ANNOUNCE_INTERVAL_MS - this.#clock.monotonic() : 0;
    if (waitMs <= 0) return this.#sendAnnouncements();
    this.#patience ??= this.#clock.setTimer(() => this.#sendAnnouncements(), waitMs);
  }

  /** Sends the remaining announcements before the connections are closed. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#disconnect();
    this.#throttle?.cancel();
    this.#sendAnnouncements();
    this.#throttle?.cancel();
    await this.#sending;
  }

  /** The code that wrote it would announce it in this turn of the event loop, and needn't any more. */
  #delivered(namespaces: readonly string[]): void {
    for (const namespace of namespaces) this.#carried.add(namespace);
    this.#clock.defer(() => this.#carried.clear());
  }

  #endPatience(): void {
    this.#patience?.cancel();
    this.#patience = undefined;
  }

  #sendAnnouncements(): void {
    this.#throttle = undefined;
    this.#endPatience();
    if (this.#announced.size === 0) return;
    const payload = toPayload([...this.#announced.keys()]);
    this.#announced.clear();
    this.#throttle = this.#clock.setTimer(() => this.#sendAnnouncements(), ANNOUNCE_INTERVAL_MS);
    this.#sending = Promise.all([this.#sending, this.#notify(payload)]).then(() => {});
  }

  /**
   * After a restart of the server, the pool's first connections may be dead, so it tries again. If all fails, polling finds the
   * work.
   */
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

  /** A connection that is cut silently looks open for hours. A query now and then finds out. */
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
    this.#client?.unref?.(); // a server that can't be reached never closes its side
    this.#client = undefined;
  }

  #tell(namespaces: readonly string[] | null): void {
    for (const listener of this.#listeners) listener(namespaces);
  }
}

/** A list that is cut off can't be read, and means "look everywhere". */
function toPayload(names: readonly string[]): string {
  return JSON.stringify(names).slice(0, 7000);
}

/** Any client may notify the channel. A payload that can't be read means "look everywhere". */
function parseNamespaces(payload: string | undefined): string[] | null {
  try {
    const parsed: unknown = JSON.parse(payload ?? "null");
    return Array.isArray(parsed) ? parsed.map(String) : null;
  } catch {
    return null;
  }
}
