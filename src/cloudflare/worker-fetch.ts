import { InvalidInputError } from "../errors.ts";
import { waitUntil, withEnv } from "./environment.ts";

/** The part of a Worker's context that has a meaning here. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  readonly props: Readonly<Record<string, unknown>>;
}

type Env = Record<string, unknown>;
/**
 * Its parameters are `never`, so that handlers with Cloudflare's own types of requests, environments and contexts are accepted.
 */
type Fetch = (request: never, env: never, context: never) => Response | Promise<Response>;
type EntrypointClass = new (context: never, env: never) => { fetch?(request: never): Response | Promise<Response> };

/** The default export of a file for Cloudflare: an object with `fetch`, or a class. */
export type Worker = { readonly fetch?: Fetch } | EntrypointClass;

/**
 * The `fetch` of a file for Cloudflare, as a function of the request alone: its env is the application's, so it finds the
 * workflows under the names of their bindings. Without the option `env` of `perdure()`, the env is the workflows by their keys.
 *
 * @example
 * import worker, { CheckoutWorkflow } from "./worker.ts";
 * const app = await perdure({ database: "app.db", workflows: { CHECKOUT: CheckoutWorkflow } });
 * const fetch = createWorkerFetch(worker, app);
 * await fetch(new Request("http://localhost/orders"));
 */
export function createWorkerFetch(
  worker: Worker,
  app: { readonly env: unknown },
): (request: Request) => Promise<Response> {
  const isClass = typeof worker === "function";
  if (!isClass && typeof worker?.fetch !== "function") throw notAWorker();
  return async (request) => {
    const env = app.env as Env;
    const context: WorkerContext = {
      waitUntil,
      passThroughOnException: () => {},
      props: {},
    };
    return withEnv(env, async () => {
      if (!isClass) return (worker.fetch as Fetch)(request as never, env as never, context as never);
      const entrypoint = new worker(context as never, env as never);
      if (typeof entrypoint.fetch !== "function") throw notAWorker();
      return entrypoint.fetch(request as never);
    });
  };
}

function notAWorker(): InvalidInputError {
  return new InvalidInputError(
    "options.invalid",
    "createWorkerFetch takes the default export of a Worker: an object with a fetch method, or a class that extends WorkerEntrypoint.",
  );
}
