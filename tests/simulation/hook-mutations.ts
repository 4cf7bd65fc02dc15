import type { SqliteDriver } from "../../src/store/sqlite/drivers/driver.ts";
import { type Mutation, rewriting } from "./rewriting.ts";

const SETTLE = /^update perdure_hook set\s+lock = null/;
const DELETE = /^delete from perdure_hook\s+where namespace = \? and id .* and lock = \? and next_at is null/;
const RENEW = /^update perdure_hook set available_at = \? where namespace = \? and id = \? and lock = \?/;
const FIND_DUE = /^select .* as due_at\s+from perdure_hook/s;
const CLAIM = /^update perdure_hook set\s+lock = \?, class = 2/;
const COUNT = /^update perdure_hook set attempts = \?, recoveries = \?, confirmed = \?/;
const INSERT = /^insert into perdure_hook(?!.*\sdo update set)/s;
const INSERT_KEYED = /^insert into perdure_hook .*\sdo update set/s;
const NEXT_WAKE = /^select min\(earliest\) as available_at/;
const CANCEL = /^delete from perdure_hook where .* and lock is null returning id/;
const EXPIRE = /^update perdure_hook indexed by perdure_hook_due set available_at = \?/;
const REDRIVE = /^update perdure_hook as hook set available_at = \?, class = /;

const HAS_NEXT = "case when next_at is not null then";

/** Protections of hooks. */
export const HOOK_MUTATIONS: readonly Mutation[] = [
  rewriting(
    "settling ignores the fencing token",
    [
      [SETTLE, "and lock = ?7", "and (lock = ?7 or true)"],
      [DELETE, "and lock = ?", "and (lock = ? or true)"],
    ],
    { seed: 22 },
  ),
  rewriting("a stale owner may delete what it completed", [[DELETE, "and lock = ?", "and (lock = ? or true)"]], {
    seed: 12,
    profile: {
      subject: "hooks",
      processes: 4,
      concurrency: 4,
      leaseMs: 6000,
      sameMachine: false,
      longestPauseMs: 20_000,
      keepMs: false,
      faultRate: 0.2,
      actions: 60,
    },
  }),
  rewriting("renewing ignores the owner", [[RENEW, "and lock = ?", "and (lock = ? or true)"]]),
  rewriting("claiming ignores leases", [[FIND_DUE, "available_at <= ?", "(available_at <= ? or class = 2)"]]),
  rewriting("claiming ignores the time", [[FIND_DUE, "available_at <= ?", "(available_at <= ? or true)"]]),
  rewriting("lost work is taken over like any other", [[CLAIM, "class = 2", "class = class"]]),
  rewriting("it isn't written that a last attempt begins", [[COUNT, "confirmed = ?", "confirmed = 0 * ?"]]),
  rewriting("owners that hadn't begun count", [[CLAIM, "or confirmed)", "or true)"]]),
  rewriting("recoveries don't count", [[CLAIM, "attempts + (lock is null or confirmed)", "attempts + (lock is null)"]]),
  rewriting("what is given back counts", [[SETTLE, "then attempts - 1", "then attempts"]]),
  rewriting("settling forgets the trigger beside it", [
    [SETTLE, `available_at = ${HAS_NEXT} max(next_at, ?2) when`, "available_at = case when"],
  ]),
  rewriting("deleting forgets the trigger beside it", [[DELETE, "next_at is null", "true"]]),
  rewriting("settling keeps the old payload", [
    [SETTLE, /payload = case when .* else payload end/, "payload = payload"],
  ]),
  rewriting("a newer trigger of a waiting key is lost", [
    [INSERT_KEYED, /(?<=set\s+)payload = case [^,]* end/, "payload = perdure_hook.payload"],
  ]),
  rewriting("a newer trigger of a running key is lost", [
    [
      INSERT_KEYED,
      /next_payload = case [^,]* end/,
      "next_payload = coalesce(perdure_hook.next_payload, excluded.payload)",
    ],
  ]),
  rewriting("a late relay replaces what is newer", [
    [INSERT_KEYED, /excluded\.triggered_at >= perdure_hook\.triggered_at/g, "true"],
  ]),
  rewriting("a debounced trigger puts nothing off", [
    [INSERT_KEYED, /then min\(excluded\.available_at, (?=case)/, "then min(perdure_hook.available_at, "],
  ]),
  rewriting("debounced triggers wait for ever", [
    [INSERT_KEYED, /coalesce\(perdure_hook\.latest_at,/g, "coalesce(perdure_hook.latest_at + 1000000000000,"],
  ]),
  rewriting("what isn't debounced is put off", [
    [
      INSERT_KEYED,
      /coalesce\(perdure_hook\.latest_at, .*?\), excluded/gs,
      "coalesce(perdure_hook.latest_at, 1000000000000000), excluded",
    ],
  ]),
  rewriting(
    "a trigger that is sent again counts again",
    [[INSERT_KEYED, "where perdure_hook.last_trigger is not excluded.last_trigger", "where true"]],
    { seed: 13 },
  ),
  rewriting("an id that exists is written over", [
    [INSERT, "insert into", "insert or replace into"],
    [INSERT, "on conflict (namespace, id) do nothing", ""],
  ]),
  rewriting("leased work has no next wake", [
    [NEXT_WAKE, "hook.available_at is not null", "hook.available_at is not null and hook.class <> 2"],
  ]),
  rewriting("cancelling takes away what runs", [[CANCEL, "and lock is null", ""]]),
  rewriting("all leases of a namespace are ended", [[EXPIRE, /and (lock in .*)$/, "and (true or $1)"]]),
  rewriting("redriving gives no fresh attempts", [[REDRIVE, "attempts = 0", "attempts = attempts"]], { seed: 24 }),
  rewriting("redriving takes what is alive", [[REDRIVE, "available_at is null and error is not null", "true"]]),
  { name: "a flush is no transaction", options: { wrapDriver: withoutTransactions } },
  { name: "processes don't know for how long they stood still", options: { stoppedClocks: true }, seed: 52 },
  { name: "processes take others for dead", options: { rashProcesses: true } },
];

/** Protections of hooks whose payloads only newer code can read. */
export const UNREADABLE_HOOK_MUTATIONS: readonly Mutation[] = [
  rewriting("a payload that can't be read counts as an attempt", [[SETTLE, "then attempts - 1", "then attempts"]]),
];

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
