/** What else a module exports that has workflows: here they are only classes with a context and an environment. */
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
