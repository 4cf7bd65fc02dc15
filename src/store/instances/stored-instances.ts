import type { Meter } from "../../monitoring/meters/meter.ts";
import type { Engine } from "../engine.ts";
import { GroupCommit } from "../group-commit.ts";
import { isLimited } from "../queue/rank.ts";
import type {
  EventInsert,
  EventInsertResult,
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceInsert,
  InstanceInsertResult,
  InstanceLease,
  InstanceRun,
  JournalEntry,
  LoadedEvents,
  LoadRequest,
  NamedRun,
  StoredEvent,
  WaitRequest,
  WaitResult,
} from "./instance-records.ts";
import type { InstanceStatements } from "./instance-statements.ts";
import { type HeldLoad, LoadBudget } from "./load-budget.ts";

/** A journal may be long: few are read at once. */
const MOST_LOADS = 100;

/** Workflow instances in the database: what many do at once goes through group commits, the rest straight to the engine. */
export class StoredInstances {
  readonly statements: InstanceStatements;
  readonly #engine: Engine;
  readonly #inserts: GroupCommit<readonly InstanceInsert[], InstanceInsertResult[]>;
  /** Inserts that join lines, and so may wait for the lock of a line. No other insert waits with them. */
  readonly #limitedInserts: GroupCommit<readonly InstanceInsert[], InstanceInsertResult[]>;
  readonly #commits: GroupCommit<InstanceCommit, InstanceCommitResult>;
  /** Of those that free slots of lines: the same. */
  readonly #limitedCommits: GroupCommit<InstanceCommit, InstanceCommitResult>;
  readonly #confirmations: GroupCommit<InstanceLease, boolean>;
  readonly #loads: GroupCommit<LoadRequest, InstanceHistory | null>;
  readonly #budget = new LoadBudget();
  readonly #eventLoads: GroupCommit<EventsRequest, LoadedEvents | null>;
  /** In the order of asking, or an event could overtake another of the same sender. */
  readonly #events: GroupCommit<EventInsert, EventInsertResult>;
  readonly #waits: GroupCommit<WaitRequest, WaitResult>;
  /**
   * Those with receipts or tokens, which may wait for another process that is writing the same. No other event waits with them.
   */
  readonly #eventsOnce: GroupCommit<EventInsert, EventInsertResult>;

  constructor(engine: Engine, { flushes }: Pick<Meter, "flushes">) {
    const { clock, flushesInFlight, instances } = engine;
    this.statements = instances;
    this.#engine = engine;
    const createInserts = () =>
      new GroupCommit<readonly InstanceInsert[], InstanceInsertResult[]>({
        clock,
        flush: (batches) => insertBatches(batches, (all) => instances.insert(all)),
        flushesInFlight,
        measure: (batch) => ({ rows: batch.length, bytes: sum(batch, ({ params }) => params.length) }),
        meter: flushes.create,
      });
    this.#inserts = createInserts();
    this.#limitedInserts = createInserts();
    const createCommits = () =>
      new GroupCommit<InstanceCommit, InstanceCommitResult>({
        clock,
        flush: (commits, { resent }) =>
          instances.commit(commits, { resent: resent || commits.some(({ again }) => again === true) }),
        flushesInFlight,
        measure: measureCommit,
        meter: flushes.commit,
      });
    this.#commits = createCommits();
    this.#limitedCommits = createCommits();
    this.#confirmations = new GroupCommit({
      clock,
      flush: (leases) => instances.confirm(leases),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
    });
    this.#loads = new GroupCommit({
      clock,
      flush: async (runs) => inOrder(runs, await instances.load(runs)),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
      maxRows: MOST_LOADS,
    });
    this.#eventLoads = new GroupCommit({
      clock,
      flush: async (requests) => inOrder(requests, await instances.loadEvents(requests)),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
      maxRows: MOST_LOADS,
    });
    const createEvents = (inFlight: number) =>
      new GroupCommit<EventInsert, EventInsertResult>({
        clock,
        flush: (events) => instances.sendEvents(events),
        flushesInFlight: inFlight,
        measure: ({ payload }) => ({ rows: 1, bytes: payload.length }),
        meter: flushes.event,
      });
    this.#waits = new GroupCommit({
      clock,
      flush: (requests) => instances.awaitEnds(requests),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
    });
    this.#events = createEvents(1);
    this.#eventsOnce = createEvents(flushesInFlight);
  }

  async insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    this.#engine.refuseNesting();
    const limited = instances.some(({ traits }) => isLimited(traits));
    return (limited ? this.#limitedInserts : this.#inserts).add(instances);
  }

  commit(commit: InstanceCommit): Promise<InstanceCommitResult> {
    const limited = commit.limited === true && commit.outcome.kind !== "running";
    return (limited ? this.#limitedCommits : this.#commits).add(commit);
  }

  /** Writes that its owner begins with what was taken over. Returns whether it is still its owner's. */
  confirm(lease: InstanceLease): Promise<boolean> {
    return this.#confirmations.add(lease);
  }

  /**
   * Everything about a run, page by page; null if it is gone, or if it isn't wanted any more. Each page is a snapshot of its
   * own. What is loaded is held until the caller releases it, also if this rejects.
   */
  async load(
    { ref, run, instance }: NamedRun,
    held: HeldLoad,
    isWanted: () => boolean = () => true,
  ): Promise<InstanceHistory | null> {
    let history = await this.#loads.add({ ref, run, instance });
    if (history !== null) held.add(bytesOf(history));
    while (history?.more === true) {
      await held.nextPage();
      if (!isWanted()) return null;
      const page: InstanceHistory | null = await this.#loads.add({ ref, run, instance, after: endOf(history) });
      if (page !== null) held.add(bytesOf(page));
      history = page === null ? null : append(history, page);
    }
    held.loaded();
    return history;
  }

  /** Counts what a load holds in memory, until it is released. */
  beginLoad(): HeldLoad {
    return this.#budget.begin();
  }

  /**
   * The events that were sent to a run after a given one, page by page; null if the run is gone. Each page is a snapshot of its
   * own. What is loaded is held until the caller releases it, also if this rejects. No page waits for other loads, because a
   * run that waits for its events may hold what those wait for.
   */
  async loadEvents(request: EventsRequest, held: HeldLoad): Promise<LoadedEvents | null> {
    let loaded = await this.#eventLoads.add(request);
    if (loaded !== null) held.add(bytesOf(loaded));
    while (loaded?.more === true) {
      const { events }: LoadedEvents = loaded;
      const page = await this.#eventLoads.add({ ...request, after: events.at(-1)?.sequence ?? request.after });
      if (page !== null) held.add(bytesOf(page));
      loaded = page === null ? null : { ...page, events: events.concat(page.events) };
    }
    return loaded;
  }

  /** Makes a run wait for the end of an instance; gives the end if it has ended. */
  awaitEnd(request: WaitRequest): Promise<WaitResult> {
    return this.#waits.add(request);
  }

  async sendEvent(event: EventInsert): Promise<EventInsertResult> {
    this.#engine.refuseNesting();
    const once = event.receipt !== undefined || event.token !== undefined;
    return (once ? this.#eventsOnce : this.#events).add(event);
  }

  /** Resolves when nothing is on its way to the database any more. */
  async idle(): Promise<void> {
    const writes = [
      this.#inserts,
      this.#limitedInserts,
      this.#commits,
      this.#limitedCommits,
      this.#events,
      this.#waits,
    ];
    const groups = [...writes, this.#eventsOnce, this.#confirmations, this.#loads, this.#eventLoads];
    await Promise.all(groups.map((group) => group.idle()));
  }
}

async function insertBatches(
  batches: readonly (readonly InstanceInsert[])[],
  insert: (instances: readonly InstanceInsert[]) => Promise<InstanceInsertResult[]>,
): Promise<InstanceInsertResult[][]> {
  const results = await insert(batches.flat());
  let end = 0;
  return batches.map((batch) => {
    end += batch.length;
    return results.slice(end - batch.length, end);
  });
}

/** The found runs in the order of the requests. */
function inOrder<Found extends InstanceRun>(runs: readonly InstanceRun[], found: readonly Found[]): (Found | null)[] {
  const byRun = new Map(found.map((one) => [`${one.ref} ${one.run}`, one]));
  return runs.map(({ ref, run }) => byRun.get(`${ref} ${run}`) ?? null);
}

function bytesOf({ entries = [], events }: Pick<InstanceHistory, "events"> & Partial<InstanceHistory>): number {
  return sum(entries, ({ value }) => value?.length ?? 0) + sum(events, ({ payload }) => payload.length);
}

function endOf({ entries, events }: InstanceHistory): { position: number; sequence: number } {
  return { position: entries.at(-1)?.position ?? 0, sequence: events.at(-1)?.sequence ?? 0 };
}

/** The entries are an array of the first page's own: a long journal isn't copied for each page. */
function append(history: InstanceHistory, { wakes, entries, events, more }: InstanceHistory): InstanceHistory {
  const { ref, run } = history;
  const all = { entries: history.entries as JournalEntry[], events: history.events as StoredEvent[] };
  for (const entry of entries) all.entries.push(entry);
  for (const event of events) all.events.push(event);
  return { ref, run, wakes, ...all, ...(more && { more }) };
}

function measureCommit({ entries, outcome, hook }: InstanceCommit): { rows: number; bytes: number } {
  const final = "output" in outcome ? outcome.output : "error" in outcome ? (outcome.error ?? "") : "";
  return {
    rows: entries.length + (outcome.kind === "running" ? 0 : 1) + (hook === undefined ? 0 : 1),
    bytes: final.length + (hook?.payload.length ?? 0) + sum(entries, ({ value }) => value?.length ?? 0),
  };
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += measure(item);
  return total;
}
