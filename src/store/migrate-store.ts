import { SchemaError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import type { AppliedMigration, FragmentTables, Migration } from "./migration.ts";

/** Tables that a fragment brings along, under its namespace. */
export interface OwnedTables {
  readonly namespace: string;
  readonly tables: FragmentTables;
}

/** Applies what is missing, in order. Safe when many processes start at once, and when it is called again. */
export async function migrateEngine(engine: Engine, owned: readonly OwnedTables[]): Promise<void> {
  const known = knownMigrations(engine, owned);
  const before = await engine.appliedMigrations();
  refuseUnknown(before, known);
  if (missing(before, known).length === 0) return;
  await engine.migrate(async (migrator) => {
    const applied = await migrator.applied();
    refuseUnknown(applied, known);
    for (const migration of missing(applied, known)) await migrator.apply(migration);
  });
}

/** Why this version can't work with the tables of the database, in one sentence; null if it can. */
export async function findSchemaProblem(engine: Engine, owned: readonly OwnedTables[]): Promise<string | null> {
  const known = knownMigrations(engine, owned);
  const applied = await engine.appliedMigrations();
  const { length } = missing(applied, known);
  if (length > 0) return `The database isn't up to date: ${length} of ${known.length} migrations are missing.`;
  if (findTooNew(applied, known) === undefined) return null;
  return "A newer version has migrated the database, and this one can't work with it.";
}

/** All migrations of Perdure and of these fragments, in the order in which they are applied. */
function knownMigrations(engine: Engine, owned: readonly OwnedTables[]): Migration[] {
  const fragments = owned.flatMap(({ namespace, tables }) =>
    tables.migrations.map((migration, index) => ({
      owner: namespace,
      number: index + 1,
      name: migration.name,
      breaking: migration.breaking ?? false,
      sql: migration[engine.dialect],
    })),
  );
  return [...engine.schemaMigrations, ...fragments];
}

function missing(applied: readonly AppliedMigration[], known: readonly Migration[]): Migration[] {
  const done = new Set(applied.map(({ owner, number }) => `${owner} ${number}`));
  return known.filter(({ owner, number }) => !done.has(`${owner} ${number}`));
}

/**
 * A newer version has migrated this database. It marks migrations that older code can't work with as breaking. All others are
 * accepted, so that old and new processes can run side by side during a deployment.
 */
function refuseUnknown(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const tooNew = findTooNew(applied, known);
  if (tooNew === undefined) return;
  const { number, name, owner } = tooNew;
  throw new SchemaError(
    "schema.too_new",
    `The database has the migration ${number} "${name}" of "${owner}", which this version doesn't know and can't work with. ` +
      `A newer version has migrated it: upgrade this process before it uses the database again.`,
  );
}

function findTooNew(applied: readonly AppliedMigration[], known: readonly Migration[]): AppliedMigration | undefined {
  const owners = new Set(known.map(({ owner }) => owner));
  const numbers = new Set(known.map(({ owner, number }) => `${owner} ${number}`));
  return applied.find(
    ({ owner, number, breaking }) => breaking && owners.has(owner) && !numbers.has(`${owner} ${number}`),
  );
}
