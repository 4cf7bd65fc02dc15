import type { ChaosApplication, Workload } from "../../workload.ts";
import { accountForHooks, type Collected, type DeadLetter } from "./accounts.ts";
import { createHooks } from "./handlers.ts";
import type { Item } from "./kinds.ts";
import { produce } from "./produce.ts";

const PAGE = 500;

/** Hooks of every kind, triggered in every way. */
export const hooksWorkload: Workload = {
  name: "hooks",
  tables: [
    // Neither table has a constraint that says that an item exists once: the accounts must find that out.
    "create table chaos_row (item text not null)",
    "create table chaos_effect (key text primary key, item text not null)",
  ],
  hooks: createHooks,
  produce,
  collect,
  accounts: (entries, collected) => accountForHooks(entries, collected as Collected),
};

async function collect(app: ChaosApplication): Promise<Collected> {
  const items = (rows: readonly Record<string, unknown>[]) => rows.map(({ item }) => item as string);
  const rows = items(await app.unitOfWork((uow) => uow.sql`select item from chaos_row`));
  const effects = items(await app.unitOfWork((uow) => uow.sql`select item from chaos_effect`));
  return { rows, effects, deadLetters: await collectDeadLetters(app) };
}

async function collectDeadLetters(app: ChaosApplication): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await app.durableHooks.deadLetters({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    for (const { payload, attempts, error } of page.hooks) {
      const { message = "", code = null } = (error ?? {}) as { message?: string; code?: string };
      found.push({ item: (payload as Item).id, attempts, error: code === null ? message : `${code}: ${message}` });
    }
    cursor = page.nextCursor;
  }
  return found;
}
