/**
 * The names of `cloudflare:workers` and `cloudflare:workflows`, for code that is written for Cloudflare and runs here. Alias
 * those modules to this one, or start Node with `--import perdure/register`.
 */
export { NonRetryableError } from "../errors.ts";
export { WorkflowEntrypoint } from "../workflows/define/entrypoint.ts";
export { env, setEnv, waitUntil, withEnv } from "./environment.ts";
export * from "./type-names.ts";
export { createWorkerFetch, type Worker, type WorkerContext } from "./worker-fetch.ts";
export {
  cache,
  DurableObject,
  exports,
  RpcStub,
  RpcTarget,
  tracing,
  WorkerEntrypoint,
  withEnvAndExports,
  withExports,
} from "./worker-parts.ts";
