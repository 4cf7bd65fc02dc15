import type { HookStatements } from "../../src/store/hooks/hook-statements.ts";
import type { ClaimedInstance, InstanceHistory, LoadedEvents } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { HookBook } from "../books/hook-book.ts";
import type { InstanceAccount } from "../books/instance-account.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import { numberOf } from "../books/trigger-record.ts";
import { HOOK_NAMES } from "../names.ts";

/** A tag that no version knows yet. */
export const UNKNOWN_TAG = '{"$perdure":"of a newer version"';

/** What a process sees if it can't read what newer ones have written. */
function unreadable(text: string): string {
  return `${UNKNOWN_TAG},"value":${text}}`;
}

/** The instances as read by a process whose code may be older than that of others. */
export function readInstances(statements: InstanceStatements, book: InstanceBook, process: string): InstanceStatements {
  const { versions, accounts } = book;
  const hide = (isHidden: boolean, text: string): string => {
    if (!isHidden) return text;
    versions.refusals++;
    return unreadable(text);
  };
  const params = <Row extends { readonly ref: string; readonly params: string }>(row: Row): Row => {
    const account = accounts.get(row.ref);
    return account === undefined ? row : { ...row, params: hide(versions.hasNewerParams(account), row.params) };
  };
  const events = <Loaded extends LoadedEvents | InstanceHistory>(loaded: Loaded): Loaded => {
    const account = accounts.get(loaded.ref);
    if (account === undefined) return loaded;
    const seen = loaded.events.map((event) => ({
      ...event,
      payload: hide(versions.isNewerEvent(account, loaded.run, event.sequence), event.payload),
    }));
    return { ...loaded, events: seen };
  };
  const entries = (loaded: InstanceHistory): InstanceHistory => {
    const account = accounts.get(loaded.ref) as InstanceAccount;
    const seen = loaded.entries.map((entry) => {
      if (entry.value === null) return entry;
      return { ...entry, value: hide(versions.isNewerEntry(account, loaded.run, entry.position), entry.value) };
    });
    return { ...loaded, entries: seen };
  };
  const each = <Row>(rows: readonly Row[], see: (row: Row) => Row) =>
    versions.isOlder(process) ? rows.map(see) : [...rows];
  const claimed = (instance: ClaimedInstance) => params(instance);
  return {
    ...statements,
    claim: async (request) => each(await statements.claim(request), claimed),
    admit: async (request) => each(await statements.admit(request), claimed),
    load: async (runs) => each(await statements.load(runs), (loaded) => entries(events(loaded))),
    loadEvents: async (requests) => each(await statements.loadEvents(requests), events),
    find: async (names) => each(await statements.find(names), (record) => record && params(record)),
  };
}

/** The same of hooks. */
export function readHooks(
  statements: HookStatements,
  { triggers }: HookBook,
  { versions }: InstanceBook,
  process: string,
): HookStatements {
  const isNewer = (hook: { readonly name: string; readonly payload: string }) => {
    if (!(HOOK_NAMES as readonly string[]).includes(hook.name)) return false;
    return versions.isNewer(triggers.get(numberOf(hook))?.process);
  };
  return {
    ...statements,
    claim: async (request) => {
      const claimed = await statements.claim(request);
      if (!versions.isOlder(process)) return claimed;
      return claimed.map((hook) => {
        if (!isNewer(hook)) return hook;
        versions.refusals++;
        return { ...hook, payload: unreadable(hook.payload) };
      });
    },
  };
}
