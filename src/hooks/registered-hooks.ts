import { InvalidInputError, NotFoundError } from "../errors.ts";
import { NO_LIMITS } from "../queue/flow-control.ts";
import type { LineLimits } from "../store/lines/line-records.ts";
import type { AnyHookDefinition, HookDefinitions } from "./define-hook.ts";
import { isHookDefinition } from "./define-hook.ts";
import type { HookSurroundings } from "./hook-context.ts";
import type { HookSettings } from "./hook-settings.ts";
import { checkName } from "./names.ts";

/** What the library adds to the hooks of an application. */
export interface HookSupplements {
  /** The library's own hooks, by name. */
  readonly internal?: ReadonlyMap<string, AnyHookDefinition>;
  readonly surroundings?: () => HookSurroundings;
}

const nothing = (): HookSurroundings => ({ workflows: {}, env: undefined });

/** The hooks that a process has in one database, in all namespaces. */
const registered = new WeakMap<object, RegisteredHooks[]>();

/** Makes hooks known to the workflows in the same database. */
export function registerHooks(store: object, hooks: RegisteredHooks): void {
  registered.set(store, [...(registered.get(store) ?? []), hooks]);
}

/** A hook by its definition, in whichever namespace it is, or by its name in this one. */
export function findHook(store: object, namespace: string, hook: unknown): { hooks: RegisteredHooks; name: string } {
  const all = registered.get(store) ?? [];
  for (const hooks of all) {
    const name = hooks.nameOf(hook);
    if (name !== undefined) return { hooks, name };
  }
  const own = all.findLast((hooks) => hooks.namespace === namespace);
  if (own !== undefined && typeof hook === "string") {
    own.get(hook); // refuses an unknown name
    return { hooks: own, name: hook };
  }
  const shown = typeof hook === "string" ? `The hook "${hook.slice(0, 100)}"` : "This hook";
  throw new NotFoundError(
    "hook.unknown",
    `${shown} isn't registered in this database by this process: give it to perdure({ hooks }), or to a fragment.`,
  );
}

/** The hooks of one namespace that this process has. */
export class RegisteredHooks {
  readonly namespace: string;
  readonly settings: HookSettings;
  readonly names: readonly string[];
  /** Including the library's own. */
  readonly claimable: readonly string[];
  /** The limits of each hook. */
  readonly limits: readonly { readonly name: string; readonly limits: LineLimits }[];
  /** Made when a handler first asks for it. */
  readonly surroundings: () => HookSurroundings;
  readonly #definitions: ReadonlyMap<string, AnyHookDefinition>;
  /** The library's own hooks: applications define their handlers, but can't trigger them. */
  readonly #internal: ReadonlyMap<string, AnyHookDefinition>;

  constructor(
    namespace: string,
    definitions: HookDefinitions,
    settings: HookSettings,
    { internal = new Map(), surroundings = nothing }: HookSupplements = {},
  ) {
    this.namespace = checkName(namespace, "A namespace");
    this.settings = settings;
    if (Object.prototype.toString.call(definitions) !== "[object Object]") {
      throw new InvalidInputError("hook.invalid", "The hooks must be an object: { name: defineHook(…) }.");
    }
    this.#definitions = new Map(Object.entries(definitions));
    this.#internal = internal;
    this.surroundings = surroundings;
    this.names = [...this.#definitions.keys()];
    this.claimable = [...this.names, ...internal.keys()];
    for (const [name, definition] of this.#definitions) {
      checkName(name, "The name of a hook");
      if (isHookDefinition(definition)) continue;
      throw new InvalidInputError("hook.invalid", `The hook "${name}" must be made by defineHook.`);
    }
    this.limits = this.names.map((name) => ({ name, limits: this.find(name)?.flow?.limits ?? NO_LIMITS }));
  }

  /** The name of one of these hooks; undefined if it isn't one of them. */
  nameOf(definition: unknown): string | undefined {
    for (const [name, known] of this.#definitions) if (known === definition) return name;
    return undefined;
  }

  find(name: string): AnyHookDefinition | undefined {
    return this.#definitions.get(name) ?? this.#internal.get(name);
  }

  /** The hooks that an application may trigger. */
  get(name: unknown): AnyHookDefinition {
    const definition = typeof name === "string" ? this.#definitions.get(name) : undefined;
    if (definition !== undefined) return definition;
    const known = this.names.length === 0 ? "it has none" : `it has ${this.names.join(", ")}`;
    const shown = typeof name === "string" ? `"${name.slice(0, 100)}"` : `with a ${typeof name} for its name`;
    throw new NotFoundError("hook.unknown", `"${this.namespace}" has no hook ${shown}; ${known}.`);
  }
}
