import { DurableObject } from "cloudflare:workers";
import type { Application } from "../app/application.ts";
import { createDurableHooksDispatcherDurableObject, type DurableHooksHandler } from "../dispatchers/cloudflare-do.ts";
import { alarmOf } from "../dispatchers/object-alarm.ts";
import { createDurableHooksProcessor } from "../fragment/create-processor.ts";
import type { AnyFragment } from "../fragment/fragment.ts";
import { migrate } from "../fragment/migrate.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import { createHttpHandler, type HttpHandler } from "../http/create-http-handler.ts";
import type { ObjectState } from "../store/sqlite/durable-object.ts";
import { FREE_SUBJECTS } from "../store/sqlite/sql/subjects.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { answerCall, answerSubscription } from "./answer-call.ts";
import { buildObjectApplication, type ObjectDefinition } from "./object-definition.ts";

/** The class of an object, to be extended. */
export type PerdureObjectClass<Env, Hooks extends HookDefinitions, Registry extends Workflows> = new (
  ctx: ObjectState,
  env: Env,
) => PerdureObject<Env, Hooks, Registry>;

/**
 * A Durable Object with workflows, hooks and subjects of its own. It starts by itself whenever one of them is due.
 *
 * @example
 * export class Shop extends PerdureObject.of({ workflows: { checkout }, hooks: { sendMail } }) {}
 */
export class PerdureObject<
  Env = unknown,
  Hooks extends HookDefinitions = Record<never, never>,
  Registry extends Workflows = Record<never, never>,
> extends DurableObject<Env> {
  readonly app: Application<Hooks, Registry>;
  readonly #handler: DurableHooksHandler | null;
  readonly #http: HttpHandler | null;

  constructor(ctx: ObjectState, env: Env, definition: ObjectDefinition<Hooks, Registry>) {
    super(ctx as never, env); // it is what Cloudflare calls DurableObjectState
    const { app, fragment } = buildObjectApplication(definition, ctx, env);
    this.app = app;
    this.#http = definition.http === undefined ? null : createHttpHandler(app, definition.http);
    void ctx.blockConcurrencyWhile(() => this.#start(fragment, definition, ctx));
    this.#handler = createHandler(fragment, definition, ctx, env);
  }

  /** A class of objects in which these run. A function is given the object's `env`. */
  static of<
    const Hooks extends HookDefinitions = Record<never, never>,
    const Registry extends Workflows = Record<never, never>,
    Env = unknown,
  >(
    definition: ObjectDefinition<Hooks, Registry> | ((env: Env) => ObjectDefinition<Hooks, Registry>),
  ): PerdureObjectClass<Env, Hooks, Registry> {
    return class extends PerdureObject<Env, Hooks, Registry> {
      constructor(ctx: ObjectState, env: Env) {
        super(ctx, env, typeof definition === "function" ? definition(env) : definition);
      }
    };
  }

  async fetch(request: Request): Promise<Response> {
    return this.#http === null ? new Response("Not found", { status: 404 }) : this.#http(request);
  }

  /** An object that has a use of its own for the alarm calls this from its `alarm()`, too. */
  async alarm(): Promise<void> {
    this.app.subjects.wake();
    if (this.#handler !== null) await this.#handler.alarm();
    else await alarmOf(this.ctx.storage, this.app.parts.store.clock).settle();
  }

  /** Answers a router's call. @internal */
  perdureCall(call: string): Promise<string> {
    return answerCall(this.app.parts, call, this.app.audit);
  }

  /** The events of an instance, for a router. @internal */
  perdureSubscribe(call: string): ReadableStream<Uint8Array> {
    return answerSubscription(this.app.parts, call);
  }

  async #start(
    fragment: AnyFragment,
    { subjects = {} }: ObjectDefinition<Hooks, Registry>,
    { storage }: ObjectState,
  ): Promise<void> {
    await migrate(fragment);
    const entries = Object.entries(subjects);
    if (entries.length === 0) return;
    const { clock } = fragment.parts.store;
    storage.sql.exec(FREE_SUBJECTS, clock.now()).toArray();
    const alarm = alarmOf(storage, clock);
    alarm.watch(() => this.app.subjects.nextWake());
    for (const [dispatcherId, definition] of entries) this.app.subjects.register(dispatcherId, definition);
    await alarm.cover();
  }
}

function createHandler<Env>(
  fragment: AnyFragment,
  { concurrency, logger }: Pick<ObjectDefinition, "concurrency" | "logger">,
  ctx: ObjectState,
  env: Env,
): DurableHooksHandler | null {
  const processor = createDurableHooksProcessor(fragment);
  if (processor === null) return null;
  const settings = { ...(concurrency !== undefined && { concurrency }), ...(logger && { logger }) };
  return createDurableHooksDispatcherDurableObject<Env>({ ...settings, createProcessor: () => processor })(ctx, env);
}
