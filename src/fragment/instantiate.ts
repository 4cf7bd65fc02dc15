import { InvalidInputError } from "../errors.ts";
import { defineHook, type HookDefinitions } from "../hooks/define-hook.ts";
import { DurableHooks } from "../hooks/durable-hooks.ts";
import { type DurableHooksOptions, parseHookSettings } from "../hooks/hook-settings.ts";
import { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { checkOptions } from "../options.ts";
import { type DatabaseAdapter, Store } from "../store/store.ts";
import type { FragmentDefinition, RunUnitOfWork } from "./define-fragment.ts";
import { Fragment } from "./fragment.ts";
import { runUnitOfWork } from "./unit-of-work.ts";
import { createWithin } from "./within.ts";

export interface FragmentOptions {
  /** `sqlite(...)` or `postgres(...)`. Fragments that share one share its transactions' database. */
  readonly databaseAdapter: DatabaseAdapter;
  readonly durableHooks?: DurableHooksOptions;
}

/**
 * Makes a fragment work, with a configuration and a database.
 *
 * @example
 * const fragment = instantiate(orders).withConfig({ mailer }).withOptions({ databaseAdapter: sqlite("app.db") }).build();
 */
export function instantiate<Config, Hooks extends HookDefinitions, Services>(
  definition: FragmentDefinition<Config, Hooks, Services>,
): FragmentInstantiation<Config, Hooks, Services> {
  const { namespace, hooks, services } = (definition ?? {}) as unknown as Record<string, unknown>;
  if (typeof namespace === "string" && typeof hooks === "function" && typeof services === "function") {
    return new FragmentInstantiation(definition, undefined, undefined);
  }
  throw new InvalidInputError("fragment.invalid", 'instantiate takes what defineFragment("…") … .build() gives.');
}

export class FragmentInstantiation<Config, Hooks extends HookDefinitions, Services> {
  readonly #definition: FragmentDefinition<Config, Hooks, Services>;
  readonly #config: Config | undefined;
  readonly #options: FragmentOptions | undefined;

  constructor(
    definition: FragmentDefinition<Config, Hooks, Services>,
    config: Config | undefined,
    options: FragmentOptions | undefined,
  ) {
    this.#definition = definition;
    this.#config = config;
    this.#options = options;
  }

  withConfig(config: Config): FragmentInstantiation<Config, Hooks, Services> {
    return new FragmentInstantiation(this.#definition, config, this.#options);
  }

  withOptions(options: FragmentOptions): FragmentInstantiation<Config, Hooks, Services> {
    checkOptions(options, { label: "A fragment", fields: ["databaseAdapter", "durableHooks"] });
    return new FragmentInstantiation(this.#definition, this.#config, options);
  }

  build(): Fragment<Hooks, Services> {
    const store = this.#options?.databaseAdapter?.store;
    if (!(store instanceof Store)) {
      throw new InvalidInputError(
        "options.invalid",
        "databaseAdapter must be made by sqlite(...) or postgres(...): call withOptions before build.",
      );
    }
    const { namespace, tables } = this.#definition;
    const config = this.#config as Config;
    const definitions = this.#definition.hooks({ config, defineHook });
    const hooks = new RegisteredHooks(namespace, definitions, parseHookSettings(this.#options?.durableHooks));
    const unitOfWork: RunUnitOfWork<Hooks> = (body) => runUnitOfWork(store, hooks, body);
    const services = this.#definition.services({ config, unitOfWork });
    const durableHooks = new DurableHooks(store, namespace);
    const within = createWithin<Hooks>(store, hooks);
    return new Fragment({ namespace, tables, store, hooks, unitOfWork, within, services, durableHooks });
  }
}
