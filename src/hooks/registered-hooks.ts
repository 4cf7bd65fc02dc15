import { InvalidInputError, NotFoundError } from "../errors.ts";
import type { AnyHookDefinition, HookDefinitions } from "./define-hook.ts";
import { isHookDefinition } from "./define-hook.ts";
import type { HookSettings } from "./hook-settings.ts";
import { checkName } from "./names.ts";

/** The hooks of one namespace that this process has. */
export class RegisteredHooks {
  readonly namespace: string;
  readonly settings: HookSettings;
  readonly names: readonly string[];
  /** Including the library's own. */
  readonly claimable: readonly string[];
  readonly #definitions: ReadonlyMap<string, AnyHookDefinition>;
  /** The library's own hooks: applications define their handlers, but can't trigger them. */
  readonly #internal: ReadonlyMap<string, AnyHookDefinition>;

  constructor(
    namespace: string,
    definitions: HookDefinitions,
    settings: HookSettings,
    internal: ReadonlyMap<string, AnyHookDefinition> = new Map(),
  ) {
    this.namespace = checkName(namespace, "A namespace");
    this.settings = settings;
    if (Object.prototype.toString.call(definitions) !== "[object Object]") {
      throw new InvalidInputError("hook.invalid", "The hooks must be an object: { name: defineHook(…) }.");
    }
    this.#definitions = new Map(Object.entries(definitions));
    this.#internal = internal;
    this.names = [...this.#definitions.keys()];
    this.claimable = [...this.names, ...internal.keys()];
    for (const [name, definition] of this.#definitions) {
      checkName(name, "The name of a hook");
      if (isHookDefinition(definition)) continue;
      throw new InvalidInputError("hook.invalid", `The hook "${name}" must be made by defineHook.`);
    }
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
