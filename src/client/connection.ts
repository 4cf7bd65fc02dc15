import { systemClock } from "../clock.ts";
import { type CallSettings, calledTooLong } from "./call-options.ts";
import type { Answered, ClientRequest, EventStream, Transport } from "./transport.ts";

interface ConnectionParts {
  readonly transport: Transport;
  /** The limits of each call of the objects that are offered; null for none. */
  readonly limits: CallSettings | null;
  /** Of the call that this connection is for. */
  readonly call: { readonly signal: AbortSignal; readonly lasting: Connection } | null;
}

/** How the objects of a client reach its server. A call with limits has a connection of its own, which ends with the call. */
export class Connection {
  /** For what outlives the call: the objects that it returns, and the streams that it opens. */
  readonly lasting: Connection;
  readonly #parts: ConnectionParts;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.lasting = parts.call?.lasting ?? this;
  }

  /** The caller's signal, which ends streams. */
  get signal(): AbortSignal | undefined {
    return this.lasting.#parts.limits?.signal ?? undefined;
  }

  send(request: ClientRequest): Promise<Answered> {
    return this.#parts.transport.send(this.#withSignal(request));
  }

  open(request: ClientRequest): Promise<EventStream | null> {
    return this.#parts.transport.open(this.#withSignal(request));
  }

  /** The same server, with these limits in addition to present ones. */
  with(limits: CallSettings): Connection {
    const { transport, limits: present } = this.#parts;
    const signals = [present?.signal ?? null, limits.signal].filter((signal) => signal !== null);
    const signal = signals.length > 1 ? AbortSignal.any(signals) : (signals[0] ?? null);
    const timeoutMs = limits.timeoutMs ?? present?.timeoutMs ?? null;
    return new Connection({ transport, limits: { signal, timeoutMs }, call: null });
  }

  /** An object whose methods, which return promises, respect the limits. */
  offer<Target extends object>(make: (connection: Connection) => Target): Target {
    const { limits } = this.#parts;
    const target = make(this);
    if (limits === null) return target;
    return new Proxy(target, {
      get: (_target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) =>
          this.#limited(limits, (connection) => Reflect.apply(member, make(connection), given) as Promise<unknown>);
      },
    });
  }

  /** Even if the given `fetch` ignores signals, the call ends. */
  async #limited<Result>(
    { signal, timeoutMs }: CallSettings,
    act: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const late = new AbortController();
    const timer =
      timeoutMs === null ? null : systemClock.setTimer(() => late.abort(calledTooLong(timeoutMs)), timeoutMs);
    const ended = signal === null ? late.signal : AbortSignal.any([signal, late.signal]);
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(ended.reason);
    ended.addEventListener("abort", abort, { once: true });
    const call = { signal: ended, lasting: this };
    try {
      return await Promise.race([act(new Connection({ ...this.#parts, limits: null, call })), promise]);
    } finally {
      timer?.cancel();
      ended.removeEventListener("abort", abort);
    }
  }

  #withSignal(request: ClientRequest): ClientRequest {
    const signal = this.#parts.call?.signal;
    if (signal === undefined) return request;
    return { ...request, signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]) };
  }
}
