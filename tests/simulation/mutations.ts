import type { SimulationOptions } from "../../simulation/simulation-options.ts";
import type { SqliteDriver } from "../../src/store/sqlite/driver.ts";
import { CLAIM_HOOK, FIND_DUE_HOOKS } from "../../src/store/sqlite/sql/claim-hooks.ts";
import { INSERT_HOOK, INSERT_KEYED_HOOK } from "../../src/store/sqlite/sql/insert-hook.ts";
import { EXPIRE_LEASES, NEXT_HOOK_WAKE, RENEW_HOOK } from "../../src/store/sqlite/sql/leases.ts";
import { CANCEL_TARGETS, cancelPendingHooks, REDRIVE_HOOK } from "../../src/store/sqlite/sql/operate-hooks.ts";
import { DELETE_COMPLETED_HOOK, SETTLE_HOOK } from "../../src/store/sqlite/sql/settle-hook.ts";

/** One protection, switched off. */
export interface Mutation {
  readonly name: string;
  readonly options: SimulationOptions;
}

type Rewrite = readonly [statement: string, part: string | RegExp, replacement: string];

const CANCEL_KEY = cancelPendingHooks(CANCEL_TARGETS.key);
const CANCEL_ID = cancelPendingHooks(CANCEL_TARGETS.id);
const HAS_NEXT = "case when next_at is not null then";

export const MUTATIONS: readonly Mutation[] = [
  rewriting("settling ignores the fencing token", [
    [SETTLE_HOOK, "and lock = ?7", "and (lock = ?7 or true)"],
    [DELETE_COMPLETED_HOOK, "and lock = ?", "and (lock = ? or true)"],
  ]),
  rewriting("a stale owner may delete what it completed", [
    [DELETE_COMPLETED_HOOK, "and lock = ?", "and (lock = ? or true)"],
  ]),
  rewriting("renewing ignores the owner", [[RENEW_HOOK, "and lock = ?", "and (lock = ? or true)"]]),
  rewriting("claiming ignores leases", [[FIND_DUE_HOOKS, "available_at <= ?", "(available_at <= ? or class = 2)"]]),
  rewriting("claiming ignores the time", [[FIND_DUE_HOOKS, "available_at <= ?", "(available_at <= ? or true)"]]),
  rewriting("lost work is taken over like any other", [[CLAIM_HOOK, "lock = ?, class = 2", "lock = ?, class = class"]]),
  rewriting("recoveries don't count", [
    [CLAIM_HOOK, "attempts = ?", "attempts = case when lock is null then ? else attempts end"],
  ]),
  rewriting("what is given back counts", [[SETTLE_HOOK, "then attempts - 1", "then attempts"]]),
  rewriting("settling forgets the trigger beside it", [
    [SETTLE_HOOK, `available_at = ${HAS_NEXT} max(next_at, ?2) when`, "available_at = case when"],
  ]),
  rewriting("deleting forgets the trigger beside it", [[DELETE_COMPLETED_HOOK, "next_at is null", "true"]]),
  rewriting("settling keeps the old payload", [
    [SETTLE_HOOK, /payload = case when .* else payload end/, "payload = payload"],
  ]),
  rewriting("a newer trigger of a waiting key is lost", [
    [INSERT_KEYED_HOOK, /(?<=set\s+)payload = case [^,]* end/, "payload = perdure_hook.payload"],
  ]),
  rewriting("a newer trigger of a running key is lost", [
    [
      INSERT_KEYED_HOOK,
      /next_payload = case [^,]* end/,
      "next_payload = coalesce(perdure_hook.next_payload, excluded.payload)",
    ],
  ]),
  rewriting("a late relay replaces what is newer", [
    [INSERT_KEYED_HOOK, /excluded\.triggered_at >= perdure_hook\.triggered_at/g, "true"],
  ]),
  rewriting("a trigger that is sent again counts again", [
    [INSERT_KEYED_HOOK, "where perdure_hook.last_trigger is not excluded.last_trigger", "where true"],
  ]),
  rewriting("an id that exists is written over", [
    [INSERT_HOOK, "insert into", "insert or replace into"],
    [INSERT_HOOK, "on conflict (namespace, id) do nothing", ""],
  ]),
  rewriting("leased work has no next wake", [
    [NEXT_HOOK_WAKE, "hook.available_at is not null", "hook.available_at is not null and hook.class <> 2"],
  ]),
  rewriting("cancelling takes away what runs", [
    [CANCEL_KEY, "and lock is null", ""],
    [CANCEL_ID, "and lock is null", ""],
  ]),
  rewriting("all leases of a namespace are ended", [[EXPIRE_LEASES, /and (lock in .*)$/, "and (true or $1)"]]),
  rewriting("redriving gives no fresh attempts", [[REDRIVE_HOOK, "attempts = 0", "attempts = attempts"]]),
  rewriting("redriving takes what is alive", [[REDRIVE_HOOK, "available_at is null and error is not null", "true"]]),
  { name: "a flush is no transaction", options: { wrapDriver: withoutTransactions } },
  { name: "processes don't know for how long they stood still", options: { stoppedClocks: true } },
  { name: "processes take others for dead", options: { rashProcesses: true } },
];

/** Breaks statements by their text. Throws if it has changed so that there is nothing to break: mutations are kept up to date. */
function rewriting(name: string, rewrites: readonly Rewrite[]): Mutation {
  const broken = new Map<string, string>();
  for (const [statement, part, replacement] of rewrites) {
    const before = broken.get(statement) ?? statement;
    const after = before.replace(part, replacement);
    if (after === before) throw new Error(`The mutation "${name}" doesn't fit its statement any more: ${statement}`);
    broken.set(statement, after);
  }
  const wrapDriver = (driver: SqliteDriver): SqliteDriver => ({
    ...driver,
    all: (text, parameters) => driver.all(broken.get(text) ?? text, parameters),
    run: (text, parameters) => driver.run(broken.get(text) ?? text, parameters),
  });
  return { name, options: { wrapDriver } };
}

/** Each statement stays for itself. */
function withoutTransactions(driver: SqliteDriver): SqliteDriver {
  let open = false;
  return {
    ...driver,
    begin: () => {
      open = true;
    },
    execute: (text) => {
      if (text !== "commit" && text !== "rollback") driver.execute(text);
      open = false;
    },
    inTransaction: () => open,
  };
}
