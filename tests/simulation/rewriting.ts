import type { Profile } from "../../simulation/profile.ts";
import type { SimulationOptions } from "../../simulation/simulation-options.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { SqliteDriver } from "../../src/store/sqlite/drivers/driver.ts";

/** One protection, switched off. */
export interface Mutation {
  readonly name: string;
  readonly options: SimulationOptions;
  /** A seed that is known to notice it, where few do: the first to be tried. */
  readonly seed?: number;
}

type Rewrite = readonly [statement: RegExp, part: string | RegExp, replacement: string];

/**
 * Breaks statements by their text. Throws if one has changed so that there is nothing to break: mutations are kept up to date.
 */
export function rewriting(
  name: string,
  rewrites: readonly Rewrite[],
  { profile, ...hint }: { seed?: number; profile?: Partial<Profile> } = {},
): Mutation {
  const known = new Map<string, string>();
  const rewrite = (text: string) => {
    let broken = known.get(text);
    if (broken === undefined) {
      broken = text;
      for (const [statement, part, replacement] of rewrites) {
        if (!statement.test(text.trim())) continue;
        const before: string = broken;
        broken = broken.replace(part, replacement);
        if (broken === before) throw new Error(`The mutation "${name}" doesn't fit its statement any more: ${text}`);
      }
      known.set(text, broken);
    }
    return broken;
  };
  const wrapDriver = (driver: SqliteDriver): SqliteDriver => ({
    ...driver,
    all: (text, parameters) => driver.all(rewrite(text), parameters),
    run: (text, parameters) => driver.run(rewrite(text), parameters),
  });
  return { name, options: { wrapDriver, ...(profile && { profile }) }, ...hint };
}

/** The engine's statements are methods of a class, which a spread would leave behind. */
export function overriding(statements: InstanceStatements, overrides: Partial<InstanceStatements>): InstanceStatements {
  return new Proxy(statements, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in overrides ? overrides : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
