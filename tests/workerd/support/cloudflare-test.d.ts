/** What tests use of the module that `@cloudflare/vitest-plugin` brings. Its own types don't go together with those of Node. */
declare module "cloudflare:test" {
  type ObjectState = import("../../../src/store/sqlite/drivers/object-driver.ts").ObjectState;

  export interface ObjectId {
    toString(): string;
  }

  export interface ObjectStub {
    readonly id: ObjectId;
    fetch(url: string, init?: RequestInit): Promise<Response>;
  }

  export interface ObjectNamespace {
    newUniqueId(): ObjectId;
    idFromName(name: string): ObjectId;
    get(id: ObjectId): ObjectStub;
  }

  /** By the names of bindings; see vitest.config.ts. */
  export const env: Readonly<Record<string, ObjectNamespace>> & { readonly DATABASE: ObjectNamespace };

  export function runInDurableObject<Result, Instance = unknown>(
    stub: ObjectStub,
    callback: (instance: Instance, state: ObjectState) => Result | Promise<Result>,
  ): Promise<Awaited<Result>>;
  export function runDurableObjectAlarm(stub: ObjectStub): Promise<boolean>;
  export function evictDurableObject(stub: ObjectStub): Promise<void>;
}
