import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import type { InstanceChange, InstanceName } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import type { LifecycleOperation } from "../books/lifecycle-book.ts";
import type { Wire } from "./wire.ts";

type EndingHook = (run: number) => HookInsert;

/** The statements of one process about workflow instances: each goes over the wire, and into the books if it is committed. */
export function createInstanceStatements(
  wire: Wire,
  instances: InstanceStatements,
  book: InstanceBook,
): InstanceStatements {
  const changeBy =
    (operation: LifecycleOperation, change: (name: InstanceName) => Promise<InstanceChange>) => (name: InstanceName) =>
      wire.call(
        `${operation} ${name.id}`,
        () => change(name),
        (result) => book.lifecycle.changed(operation, name, result),
      );
  /** The commit that ends a run carries the hook for that end. */
  const endBy =
    (
      operation: LifecycleOperation,
      end: (name: InstanceName, hook: EndingHook | undefined) => Promise<InstanceChange>,
    ) =>
    (name: InstanceName, hook?: EndingHook) => {
      let triggered: HookInsert | undefined;
      const trigger: EndingHook = (run) => {
        triggered = (hook as EndingHook)(run);
        return triggered;
      };
      return wire.call(
        `${operation} ${name.id}`,
        () => end(name, hook && trigger),
        (result) => book.lifecycle.changed(operation, name, result, triggered ? { hook: triggered } : {}),
      );
    };
  const lookFor = async <Answer>(sought: readonly { readonly ref: string }[], look: () => Promise<Answer>) => {
    try {
      return await look();
    } catch (error) {
      for (const { ref } of sought) book.events.overlooked(ref);
      throw error;
    }
  };
  return {
    insert: (inserts) =>
      wire.call(
        `create ${inserts.map(({ name, id }) => `${name} ${id}`).join(", ")}`,
        () => instances.insert(inserts),
        (results) => book.inserted(inserts, results),
      ),
    claim: (request) =>
      wire.claim(
        `claim instances for ${request.lock}`,
        () => instances.claim(request),
        (claimed) => book.claimed(request, claimed),
      ),
    admit: (request) =>
      wire.claim(
        `admit instances for ${request.lock}`,
        () => instances.admit(request),
        (admitted) => book.admitted(request, admitted),
      ),
    nextAdmission: (scopes) => wire.call("next admission", () => instances.nextAdmission(scopes)),
    openLines: (namespaces) => wire.call("open lines", () => instances.openLines(namespaces)),
    load: (runs) => lookFor(runs, () => wire.call("load", () => instances.load(runs))),
    loadEvents: (requests) => lookFor(requests, () => wire.call("load events", () => instances.loadEvents(requests))),
    commit: async (commits, sending) => {
      try {
        return await wire.call(
          `commit ${commits.map(describeCommit).join(", ")}`,
          () => {
            wire.refuseJournal(commits);
            return instances.commit(commits, sending);
          },
          (results) => book.commits.committed(commits, results, sending?.resent ?? true),
        );
      } catch (error) {
        for (const commit of commits) book.waits.unwritten(commit);
        throw error;
      }
    },
    reacquire: (parked, lease) =>
      wire.call(
        `reacquire ${parked.ref} for ${lease.lock}`,
        () => instances.reacquire(parked, lease),
        (renewed) => book.reacquired(parked, lease, renewed),
      ),
    renew: (leases, leaseMs) =>
      wire.call(
        `renew instances of ${leases.map(({ lock }) => lock).join(", ")}`,
        () => instances.renew(leases, leaseMs),
        (held) => book.renewed(leases, held, leaseMs),
      ),
    confirm: (leases) =>
      wire.call(
        `confirm ${leases.map(({ ref, lock }) => `${ref} of ${lock}`).join(", ")}`,
        () => instances.confirm(leases),
        (written) => book.confirmed(leases, written),
      ),
    findLeased: (namespaces, locks) =>
      wire.call(`find instances leased by ${locks.join(", ")}`, () => instances.findLeased(namespaces, locks)),
    nextWake: (scopes, options) => wire.call("next instance wake", () => instances.nextWake(scopes, options)),
    leaseTokens: (namespaces) => wire.call("instance lease tokens", () => instances.leaseTokens(namespaces)),
    expireLeases: (namespaces, locks) =>
      wire.call(
        `expire instances of ${locks.join(", ")}`,
        () => instances.expireLeases(namespaces, locks),
        () => book.expired(locks),
      ),
    lines: (query) => wire.call("lines", () => instances.lines(query)),
    situation: (ref) => wire.call("situation", () => instances.situation(ref)),
    unreceivedEvents: (run, limits) => wire.call("unreceivedEvents", () => instances.unreceivedEvents(run, limits)),
    positions: (refs) => wire.call("positions", () => instances.positions(refs)),
    dropProgress: (range) =>
      wire.call(
        `drop progress of ${range.name} in ${range.ref}/${range.run} from ${range.from}`,
        () => instances.dropProgress(range),
        () => book.progress.dropped(range),
      ),
    unfinishedVersions: (scope, limit) =>
      wire.call("unfinished versions", () => instances.unfinishedVersions(scope, limit)),
    unknownNames: (scope) => wire.call("unknown names", () => instances.unknownNames(scope)),
    awaitEnds: (requests) =>
      wire.call(
        `await ${requests.map(({ instance }) => instance.id).join(", ")}`,
        () => instances.awaitEnds(requests),
        (results) => book.waiters.awaited(requests, results),
      ),
    sendEvents: (events) =>
      wire.call(
        `send ${events.map(({ type, id }) => `${type} to ${id}`).join(", ")}`,
        () => instances.sendEvents(events),
        (results) => book.events.sent(events, results),
      ),
    pause: changeBy("pause", (name) => instances.pause(name)),
    resume: changeBy("resume", (name) => instances.resume(name)),
    terminate: endBy("terminate", (name, hook) => instances.terminate(name, hook)),
    rollBack: endBy("rollBack", (name, hook) => instances.rollBack(name, hook)),
    timeOut: (run) => wire.call(`time out ${run.instance.id}`, () => instances.timeOut(run)),
    deadlines: (scope, limit) => wire.call("deadlines", () => instances.deadlines(scope, limit)),
    restart: (name, request) =>
      wire.call(
        `restart ${name.id}`,
        () => instances.restart(name, request),
        (result) => book.lifecycle.changed("restart", name, result, request),
      ),
    delete: changeBy("delete", (name) => instances.delete(name)),
    find: (names) => wire.call("find", () => instances.find(names)),
    search: (search) => wire.call("search", () => instances.search(search)),
    findByIdPrefix: (scope, prefix, limit) =>
      wire.call("find by id prefix", () => instances.findByIdPrefix(scope, prefix, limit)),
    reach: (filter, entries) => wire.call("reach of a list", () => instances.reach(filter, entries)),
    list: (filter) => wire.call("list instances", () => instances.list(filter)),
    labelledCounts: (namespace, labels, from) =>
      wire.call("count labelled instances", () => instances.labelledCounts(namespace, labels, from)),
    counts: (namespace, names, most) => wire.call("count instances", () => instances.counts(namespace, names, most)),
    purge: (namespace, limit) => wire.call("purge instances", () => instances.purge(namespace, limit)),
    history: (filter) => wire.call("history", () => instances.history(filter)),
    pastRuns: (instance, range) => wire.call("past runs", () => instances.pastRuns(instance, range)),
  };
}

type Commit = Parameters<InstanceStatements["commit"]>[0][number];

function describeCommit({ ref, run, lock, position, entries, outcome }: Commit): string {
  const steps = entries.map(({ kind, name, count }) => `${name}#${count} ${kind}`).join(", ");
  return `${ref}/${run} of ${lock} at ${position}: [${steps}] ${outcome.kind}`;
}
