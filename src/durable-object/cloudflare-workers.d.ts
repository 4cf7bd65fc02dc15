/**
 * The part of Cloudflare's own module that is used here. Applications have its real types, from `@cloudflare/workers-types` or
 * Wrangler.
 */
declare module "cloudflare:workers" {
  export abstract class DurableObject<Env = unknown> {
    protected ctx: import("../store/sqlite/drivers/object-driver.ts").ObjectState;
    protected env: Env;
    constructor(ctx: import("../store/sqlite/drivers/object-driver.ts").ObjectState, env: Env);
  }
}
