import type { HookStatements } from "../../src/store/hooks/hook-statements.ts";
import type { HookBook } from "../books/hook-book.ts";
import type { World } from "../world.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { Wire } from "./wire.ts";

/** The statements of one process: each goes over the wire, and into the books if it is committed. */
export function createStatements(
  wire: Wire,
  world: World,
  database: SimulatedDatabase,
  book: HookBook,
): HookStatements {
  const { hooks } = database.engine;
  return {
    insert: (inserts) =>
      wire.call(
        `insert ${inserts.length}`,
        () => hooks.insert(inserts),
        (results) => book.inserted(inserts, results),
      ),
    claim: (request) =>
      wire.claim(
        `claim for ${request.lock}`,
        () => hooks.claim(request),
        (claimed) => book.claimed(request, claimed),
      ),
    admit: (request) =>
      wire.claim(
        `admit for ${request.lock}`,
        () => hooks.admit(request),
        (claimed) => book.claimed({ ...request, scopes: [], limit: request.room, takeOver: false }, claimed),
      ),
    forgetStarts: (keptMs) =>
      wire.call(
        "forget starts of hooks",
        () => hooks.forgetStarts(keptMs),
        () => {},
      ),
    renew: (leases, leaseMs) =>
      wire.call(
        `renew ${leases.map(({ lock }) => lock).join(", ")}`,
        () => hooks.renew(leases, leaseMs),
        (held) => book.renewed(leases, held, leaseMs),
      ),
    settle: (settlements, sending) =>
      wire.call(
        `settle ${settlements.map(({ id, lock, outcome }) => `${id} of ${lock} as ${outcome.kind}`).join(", ")}`,
        () => hooks.settle(settlements, sending),
        (results) => book.settled(settlements, results, { at: world.now, mayBeResent: true }),
      ),
    count: (counts) =>
      wire.call(
        `count ${counts.map(({ id, lock, attempts, begins }) => `${begins ? "attempt" : "no attempt"} ${attempts} at ${id} of ${lock}`).join(", ")}`,
        () => hooks.count(counts),
        (written) => book.counted(counts, written),
      ),
    findLeased: (namespaces, locks) =>
      wire.call(`find leased by ${locks.join(", ")}`, () => hooks.findLeased(namespaces, locks)),
    nextWake: (scopes, options) => wire.call("next wake", () => hooks.nextWake(scopes, options)),
    leaseTokens: (namespaces) => wire.call("lease tokens", () => hooks.leaseTokens(namespaces)),
    expireLeases: (namespaces, locks) =>
      wire.call(
        `expire ${locks.join(", ")}`,
        () => hooks.expireLeases(namespaces, locks),
        () => book.expired(locks),
      ),
    get: (reference) => wire.call("get", () => hooks.get(reference)),
    placeInLine: (question) => wire.call("place in line", () => hooks.placeInLine(question)),
    list: (filter) => wire.call("list", () => hooks.list(filter)),
    find: (namespace, ids) => wire.call("find hooks", () => hooks.find(namespace, ids)),
    search: (search) => wire.call("search hooks", () => hooks.search(search)),
    statistics: (namespace) => wire.call("statistics", () => hooks.statistics(namespace)),
    redrive: (namespace, ids) =>
      wire.call(
        "redrive",
        () => hooks.redrive(namespace, ids),
        (redriven) => book.redriven(redriven),
      ),
    discard: (namespace, ids) =>
      wire.call(
        "discard",
        () => hooks.discard(namespace, ids),
        (discarded) => book.discarded(discarded),
      ),
    cancel: (namespace, target) =>
      wire.call(
        "cancel",
        () => hooks.cancel(namespace, target),
        ({ cancelled, running }) => book.cancelled(cancelled, running),
      ),
    purge: (namespace, limit) => wire.call("purge", () => hooks.purge(namespace, limit)),
  };
}
