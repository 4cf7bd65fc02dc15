import { withEnv } from "./environment.ts";

/** Other classes that a Worker's module exports: here they only have a context and an environment. */
abstract class Entrypoint<Env> {
  protected readonly ctx: unknown;
  protected readonly env: Env;

  constructor(ctx: unknown, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }
}

export class WorkerEntrypoint<Env = unknown> extends Entrypoint<Env> {}

export class DurableObject<Env = unknown> extends Entrypoint<Env> {}

export class RpcTarget {}

/**
 * Other exports of `cloudflare:workers`, for files that use them. Nothing is traced, cached or exported to other Workers here,
 * and code that uses these exports runs without the feature.
 */
class UntracedSpan {
  readonly isTraced = false;

  setAttribute(_key: string, _value: boolean | number | string | undefined): this {
    return this;
  }

  setAttributes(_attributes: Readonly<Record<string, boolean | number | string | undefined>>): this {
    return this;
  }

  recordException(_exception: unknown): this {
    return this;
  }

  end(): void {}
}

type InSpan<Result, Parameters extends unknown[]> = (span: UntracedSpan, ...parameters: Parameters) => Result;

function inSpan<Result, Parameters extends unknown[]>(
  _name: string,
  callback: InSpan<Result, Parameters>,
  ...parameters: Parameters
): Result {
  return callback(new UntracedSpan(), ...parameters);
}

/** Calls the function, and traces nothing. */
export const tracing = Object.freeze({
  enterSpan: inSpan,
  startActiveSpan: inSpan,
  startSpan: (_name: string): UntracedSpan => new UntracedSpan(),
  getActiveSpan: (): undefined => undefined,
  withActiveSpan: <Result, Parameters extends unknown[]>(
    _span: unknown,
    callback: (...parameters: Parameters) => Result,
    ...parameters: Parameters
  ): Result => callback(...parameters),
  Span: UntracedSpan,
});

const purged = async (_options: object) => ({ success: true, errors: [] as unknown[] });

/** Nothing is cached, so nothing needs to be purged. */
export const cache = Object.freeze({ purge: purged, invalidate: purged });

/** Of the Worker's own entrypoints; here there are none. */
export const exports: Readonly<Record<string, unknown>> = Object.freeze({});

export function withExports<Result>(_exports: unknown, body: () => Result): Result {
  return body();
}

export function withEnvAndExports<Result>(env: Record<string, unknown>, _exports: unknown, body: () => Result): Result {
  return withEnv(env, body);
}

/** Caller and callee are in one process, so the caller gets the object itself. */
export class RpcStub {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: it stands for the object
    return value as RpcStub;
  }
}
