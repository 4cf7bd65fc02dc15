import { InvalidInputError } from "../errors.ts";
import { defineHook, type HookDefinitions } from "../hooks/define-hook.ts";
import { DurableHooks } from "../hooks/durable-hooks.ts";
import { type DurableHooksOptions, parseHookSettings } from "../hooks/hook-settings.ts";
import { type HookSupplements, RegisteredHooks, registerHooks } from "../hooks/registered-hooks.ts";
import { listenToAlerts } from "../monitoring/alerts.ts";
import { checkOptions } from "../options.ts";
import { type DatabaseAdapter, Store } from "../store/store.ts";
import type { FragmentDefinition, RunUnitOfWork } from "./define-fragment.ts";
import { Fragment, type FragmentParts } from "./fragment.ts";
import { runUnitOfWork } from "./unit-of-work.ts";

export interface FragmentOptions {
  /** `sqlite(...)` or `postgres(...)`. Fragments with the same adapter share its database. */
  readonly databaseAdapter: DatabaseAdapter;
  readonly durableHooks?: DurableHooksOptions;
}

/**
 * Instantiates a fragment with a configuration and a database.
 *
 * @example
 * const fragment = instantiate(orders).withConfig({ mailer }).withOptions({ databaseAdapter: sqlite("app.db") }).build();
 */
export function instantiate<Instantiation>(definition: { readonly instantiate: () => Instantiation }): Instantiation;
export function instantiate<Config, Hooks extends HookDefinitions, Services>(
  definition: FragmentDefinition<Config, Hooks, Services>,
): FragmentInstantiation<Config, Hooks, Services>;
export function instantiate(definition: unknown): unknown {
  const own: unknown = Reflect.get(Object(definition), "instantiate");
  if (typeof own === "function") return own();
  const { namespace, hooks, services } = (definition ?? {}) as unknown as Record<string, unknown>;
  if (typeof namespace === "string" && typeof hooks === "function" && typeof services === "function") {
    return new FragmentInstantiation(
      definition as FragmentDefinition<unknown, HookDefinitions, unknown>,
      undefined,
      undefined,
    );
  }
  throw new InvalidInputError("fragment.invalid", 'instantiate takes the result of defineFragment("…") … .build().');
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
    return new Fragment(buildParts(this.#definition, this.#config as Config, this.#options));
  }
}

/** The parts of a fragment. `supplements` is what the library adds to its hooks. */
export function buildParts<Config, Hooks extends HookDefinitions, Services>(
  definition: FragmentDefinition<Config, Hooks, Services>,
  config: Config,
  options: FragmentOptions | undefined,
  supplements?: HookSupplements,
): FragmentParts<Services> {
  const store = options?.databaseAdapter?.store;
  if (!(store instanceof Store)) {
    throw new InvalidInputError(
      "options.invalid",
      "databaseAdapter must be made by sqlite(...) or postgres(...): call withOptions before build.",
    );
  }
  const { namespace, tables } = definition;
  const definitions = definition.hooks({ config, defineHook });
  const settings = parseHookSettings(options?.durableHooks);
  const hooks = new RegisteredHooks(namespace, definitions, settings, supplements);
  if (settings.onAlert !== null) listenToAlerts(store, namespace, settings.onAlert);
  registerHooks(store, hooks);
  const unitOfWork: RunUnitOfWork<Hooks> = (body) => runUnitOfWork({ store, hooks, workflows: null }, body);
  const services = definition.services({ config, unitOfWork });
  const durableHooks = new DurableHooks(store, hooks);
  return { namespace, tables, store, hooks, services, durableHooks, workflows: null };
}
