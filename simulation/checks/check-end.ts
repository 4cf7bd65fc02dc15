import { purgeAt } from "../books/instance-account.ts";
import type { Surroundings } from "../machines/simulated-process.ts";
import { NAMESPACE } from "../names.ts";

const PURGED_AT_ONCE = 3;

/** What must be true when the faults have stopped and everything had time to end. */
export async function checkEnd({ world, database, book, instances }: Surroundings): Promise<void> {
  for (const { id, n, state, lock } of book.accounts.values()) {
    if (state !== "live") continue;
    world.violate("an idle world has no due work", `${id} (#${n}) is not done; it belongs to ${lock ?? "no owner"}`);
  }
  for (const { ref, name, state, held, lock, availableAt } of instances.accounts.values()) {
    if (state !== "live") continue;
    const where = held ? `${lock} has it` : `due in ${availableAt === null ? "never" : availableAt - world.now}`;
    world.violate("an idle world has no due work", `${name} ${ref} is not done: ${where}`);
  }
  await purgeAll({ world, database, instances });
  checkEffects(world, book, count(database.read("select n from effect"), "n"));
  instances.ledger.check(count(database.read("select key from ledger"), "key"));
  book.runs.ledger.check(count(database.read("select key from settled"), "key"));
  const handled = count(database.read("select key from handled"), "key");
  for (const [key, times] of handled) {
    if (times > 1) world.violate("database effects happen exactly once", `${key} has ${times} effects`);
  }
  for (const { key, n, ending } of book.runs.runs) {
    const { plan } = book.triggers.get(n) ?? { plan: [] };
    const writes = plan.every((behaviour) => behaviour === "effect" || behaviour === "effect-and-kill");
    if (!writes || ending !== "succeeded" || handled.has(key)) continue;
    world.violate("database effects happen exactly once", `${key} (#${n}) succeeded without its effect`);
  }
  for (const { key, effect, ending } of instances.bodies.runs) {
    if (!effect || ending !== "succeeded" || handled.has(key)) continue;
    world.violate("database effects happen exactly once", `${key} succeeded without its effect`);
  }
}

/** Everything whose retention is over is purged, and nothing is left of it. */
async function purgeAll({ world, database, instances }: Pick<Surroundings, "world" | "database" | "instances">) {
  const accounts = [...instances.accounts.values()];
  world.now = Math.max(world.now, ...accounts.map((account) => purgeAt(account) ?? 0));
  const purge = () =>
    database.run(
      () => database.engine.instances.purge(NAMESPACE, PURGED_AT_ONCE),
      () => {},
    );
  for (let rounds = 0; rounds <= accounts.length && (await purge()) > 0; rounds++);
  for (const account of accounts) {
    if (purgeAt(account) !== null) world.violate("kept for as long as was said", `${account.ref} is still there`);
  }
  const [left] = database.read("select ref from perdure_deleted_instance");
  if (left !== undefined) world.violate("nothing is left of what is gone", `${left.ref} isn't swept up after`);
}

/** A transaction's own writes and its triggers are stored together or not at all. */
function checkEffects(
  world: Surroundings["world"],
  book: Surroundings["book"],
  effects: ReadonlyMap<unknown, number>,
): void {
  for (const { n, via, answer, accepted } of book.triggers.values()) {
    if (via === "trigger") continue;
    const times = effects.get(n) ?? 0;
    if (times > 1) world.violate("database effects happen exactly once", `#${n} has ${times} effects`);
    if (answer === "acknowledged" && times === 0) world.violate("nothing accepted is lost", `the effect of #${n}`);
    if (answer === "refused" && times > 0) world.violate("what is rolled back never happened", `the effect of #${n}`);
    if (accepted && times === 0) world.violate("effects and triggers are one", `#${n} was accepted without its effect`);
  }
}

function count(rows: readonly Record<string, unknown>[], column: string): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const row of rows) counts.set(row[column], (counts.get(row[column]) ?? 0) + 1);
  return counts;
}
