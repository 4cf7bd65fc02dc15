import { InvalidInputError } from "../errors.ts";
import type { defineHook, HookDefinitions } from "../hooks/define-hook.ts";
import { checkName } from "../hooks/names.ts";
import type { FragmentTables } from "../store/migration.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import type { UnitOfWork } from "./unit-of-work.ts";

/** Runs a function in a new transaction. */
export type RunUnitOfWork<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>> = <Result>(
  body: (uow: UnitOfWork<Hooks, Registry>) => Promise<Result>,
) => Promise<Result>;

export interface HooksContext<Config> {
  readonly config: Config;
  readonly defineHook: typeof defineHook;
}

export interface ServicesContext<Config, Hooks extends HookDefinitions> {
  readonly config: Config;
  readonly unitOfWork: RunUnitOfWork<Hooks>;
}

/** A part of an application with its own tables, hooks and services, to be instantiated with a configuration. */
export interface FragmentDefinition<Config, Hooks extends HookDefinitions, Services> {
  readonly namespace: string;
  readonly tables: FragmentTables | null;
  readonly hooks: (context: HooksContext<Config>) => Hooks;
  readonly services: (context: ServicesContext<Config, Hooks>) => Services;
}

/** The owner of the library's own migrations. */
const LIBRARY = "perdure";

type NoHooks = Record<never, never>;
type NoServices = Record<never, never>;

/**
 * Starts the definition of a fragment. The namespace keeps its hooks apart from those of others in the same database.
 *
 * @example
 * const orders = defineFragment<{ mailer: Mailer }>("orders")
 *   .provideHooks(({ config, defineHook }) => ({
 *     onOrderPlaced: defineHook({}, (order: Order, hook) => config.mailer.confirm(order, hook.idempotencyKey)),
 *   }))
 *   .provideServices(({ unitOfWork }) => ({
 *     placeOrder: (order: Order) => unitOfWork(async (uow) => {
 *       await uow.sql`insert into orders (id) values (${order.id})`;
 *       uow.triggerHook("onOrderPlaced", order);
 *     }),
 *   }))
 *   .build();
 */
export function defineFragment<Config = undefined>(namespace: string): FragmentBuilder<Config, NoHooks, NoServices> {
  return new FragmentBuilder({
    namespace: checkName(namespace, "A namespace"),
    tables: null,
    hooks: () => ({}),
    services: () => ({}),
  });
}

export class FragmentBuilder<Config, Hooks extends HookDefinitions, Services> {
  readonly #definition: FragmentDefinition<Config, Hooks, Services>;

  constructor(definition: FragmentDefinition<Config, Hooks, Services>) {
    this.#definition = definition;
  }

  /** Tables that the fragment owns: ordered SQL per dialect, run by `migrate`. */
  withDatabase(tables: FragmentTables): FragmentBuilder<Config, Hooks, Services> {
    if (this.#definition.namespace === LIBRARY) {
      throw new InvalidInputError(
        "name.invalid",
        `"${LIBRARY}" owns the library's own tables: call the fragment something else.`,
      );
    }
    return new FragmentBuilder({ ...this.#definition, tables: checkTables(tables) });
  }

  /** Called before `provideServices`, whose services trigger the hooks. */
  provideHooks<NewHooks extends HookDefinitions>(
    hooks: (context: HooksContext<Config>) => NewHooks,
  ): FragmentBuilder<Config, NewHooks, NoServices> {
    checkFunction(hooks, "provideHooks", "({ config, defineHook }) => ({ … })");
    const { namespace, tables } = this.#definition;
    return new FragmentBuilder({ namespace, tables, hooks, services: () => ({}) });
  }

  provideServices<NewServices>(
    services: (context: ServicesContext<Config, Hooks>) => NewServices,
  ): FragmentBuilder<Config, Hooks, NewServices> {
    checkFunction(services, "provideServices", "({ config, unitOfWork }) => ({ … })");
    return new FragmentBuilder({ ...this.#definition, services });
  }

  build(): FragmentDefinition<Config, Hooks, Services> {
    return this.#definition;
  }
}

function checkFunction(value: unknown, method: string, example: string): void {
  if (typeof value === "function") return;
  throw new InvalidInputError("fragment.invalid", `${method} takes a function: ${method}(${example}).`);
}

function checkTables(tables: FragmentTables): FragmentTables {
  const migrations: unknown = tables?.migrations;
  if (Array.isArray(migrations) && migrations.every(isFragmentMigration)) return tables;
  throw new InvalidInputError(
    "tables.invalid",
    "The tables of a fragment are { migrations: [{ name, sqlite, postgres, breaking? }] }, with SQL for both databases.",
  );
}

function isFragmentMigration(value: unknown): boolean {
  const { name, sqlite, postgres } = (value ?? {}) as Record<string, unknown>;
  return [name, sqlite, postgres].every((text) => typeof text === "string" && text !== "");
}
