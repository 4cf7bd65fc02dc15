import type { InstanceStatements } from "../src/store/instance-statements.ts";
import type { Wire } from "./wire.ts";

/** The statements of one process about workflow instances: each goes over the wire. */
export function createInstanceStatements(wire: Wire, instances: InstanceStatements): InstanceStatements {
  return {
    insert: (inserts) => wire.call(`create ${inserts.length}`, () => instances.insert(inserts)),
    claim: (request) => wire.call(`claim instances for ${request.lock}`, () => instances.claim(request)),
    load: (runs) => wire.call("load", () => instances.load(runs)),
    loadEvents: (requests) => wire.call("load events", () => instances.loadEvents(requests)),
    commit: (commits, sending) => wire.call("commit", () => instances.commit(commits, sending)),
    reacquire: (parked, lease) => wire.call("reacquire", () => instances.reacquire(parked, lease)),
    renew: (leases, leaseMs) => wire.call("renew instances", () => instances.renew(leases, leaseMs)),
    nextWake: (scopes, options) => wire.call("next instance wake", () => instances.nextWake(scopes, options)),
    leaseTokens: (namespaces) => wire.call("instance lease tokens", () => instances.leaseTokens(namespaces)),
    expireLeases: (namespaces, locks) => wire.call("expire instances", () => instances.expireLeases(namespaces, locks)),
    unknownNames: (scope) => wire.call("unknown names", () => instances.unknownNames(scope)),
    sendEvents: (events) => wire.call("send events", () => instances.sendEvents(events)),
    pause: (instance) => wire.call("pause", () => instances.pause(instance)),
    resume: (instance) => wire.call("resume", () => instances.resume(instance)),
    terminate: (instance) => wire.call("terminate", () => instances.terminate(instance)),
    restart: (instance) => wire.call("restart", () => instances.restart(instance)),
    delete: (instance) => wire.call("delete", () => instances.delete(instance)),
    find: (names) => wire.call("find", () => instances.find(names)),
    list: (filter) => wire.call("list instances", () => instances.list(filter)),
    history: (filter) => wire.call("history", () => instances.history(filter)),
    pastRuns: (ref) => wire.call("past runs", () => instances.pastRuns(ref)),
  };
}
