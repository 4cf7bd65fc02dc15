import type { HookInsert } from "../../hooks/hook-records.ts";
import {
  type Deadline,
  type EventLimits,
  type HistoryFilter,
  type InstanceChange,
  type InstanceCount,
  type InstanceFilter,
  type InstanceName,
  type InstancePosition,
  type InstanceRecord,
  type InstanceRun,
  type InstanceScope,
  type InstanceSearch,
  type InstanceSituation,
  type InstanceTarget,
  type JournalPage,
  type KeptEntries,
  type PastRun,
  type ProgressRange,
  type RestartRequest,
  type RunRange,
  type SearchedInstance,
  type TimedOutRun,
  UNFINISHED_STATUSES,
  type UnreceivedRecords,
  type VersionCount,
} from "../../instances/instance-records.ts";
import {
  toDeadline,
  toHistoryEntry,
  toInstanceCount,
  toInstancePosition,
  toInstanceRecord,
  toPastRun,
  toSearchedInstance,
  toUnreceivedEvents,
  toVersionCount,
} from "../../instances/instance-rows.ts";
import { countFitting } from "../../instances/load-page.ts";
import { isAnswered, isRestarted, REPEATED } from "../../instances/repeated-change.ts";
import type { LineQuery, ListedLine } from "../../lines/listed-lines.ts";
import type { QueueScope } from "../../queue/claim-request.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteAccess, SqliteDriver, SqliteValue } from "../drivers/driver.ts";
import { doOnce } from "../receipts.ts";
import { READ_UNRECEIVED_EVENTS } from "../sql/events.ts";
import { hookValues, INSERT_HOOK } from "../sql/hooks-trigger.ts";
import {
  FIND_DEADLINES,
  FIND_RANK,
  KEEP_PAST_RUN,
  PAUSE_INSTANCE,
  RESTART_INSTANCE,
  RESUME_INSTANCE,
  ROLL_BACK_INSTANCE,
  TERMINATE_INSTANCE,
  TIME_OUT_INSTANCE,
} from "../sql/instances-change.ts";
import { DELETE_INSTANCE } from "../sql/instances-delete.ts";
import {
  COUNT_LABELLED_INSTANCES,
  COUNT_VERSIONS,
  GET_INSTANCE,
  READ_PAST_RUNS,
  READ_POSITION,
} from "../sql/instances-read.ts";
import { DROP_PROGRESS, KEEP_ENTRIES, KEEP_EVENTS, measureHistory, readHistory } from "../sql/journal.ts";
import { freeSlot, joinLine, toRankedInstance } from "./lines.ts";
import {
  countInstances,
  findRefsByIdPrefix,
  listInstances,
  reachOfList,
  searchInstances,
  workflowNames,
} from "./list-instances.ts";
import { listLines } from "./list-lines.ts";
import { deleteDependents, deleteLabels, hasPurge, purgeInstances, sweepDeleted } from "./purge-instances.ts";
import { readSituation } from "./read-situation.ts";
import { tellWaiters, toEnd } from "./waiters.ts";

type Row = Record<string, unknown>;

const UNFINISHED = JSON.stringify(UNFINISHED_STATUSES);

/** The operations of callers and operators on instances. */
export class SqliteInstanceOperations {
  protected readonly access: SqliteAccess;
  protected readonly driver: SqliteDriver;

  constructor(access: SqliteAccess) {
    this.access = access;
    this.driver = access.driver;
  }

  async pause(instance: InstanceTarget, by: string | null = null): Promise<InstanceChange> {
    return this.#change(instance, () => this.driver.all(PAUSE_INSTANCE, [...keyOf(instance), by]));
  }

  async resume(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#change(instance, (now) => this.driver.all(RESUME_INSTANCE, [now, ...keyOf(instance)]));
  }

  async terminate(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#change(instance, (now) => {
      const terminated = this.driver.all(TERMINATE_INSTANCE, [now, ...keyOf(instance)]);
      if (hook === undefined) return terminated;
      for (const { run } of terminated) this.driver.run(INSERT_HOOK, hookValues(hook(Number(run)), now));
      return terminated;
    });
  }

  async rollBack(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#change(instance, (now) => {
      const changed = this.driver.all(ROLL_BACK_INSTANCE, [now, ...keyOf(instance), null]);
      if (hook === undefined) return changed;
      for (const { run, status } of changed) {
        if (status === "terminated") this.driver.run(INSERT_HOOK, hookValues(hook(Number(run)), now));
      }
      return changed;
    });
  }

  async timeOut({ instance, ref, run, error, hook }: TimedOutRun): Promise<InstanceChange> {
    return this.#change({ ...instance, only: { ref, run } }, (now) => {
      const changed = this.driver.all(TIME_OUT_INSTANCE, [now, ...keyOf(instance), error]);
      if (hook !== undefined && changed[0]?.status === "errored") this.driver.run(INSERT_HOOK, hookValues(hook, now));
      return changed;
    });
  }

  async deadlines({ namespace, names }: QueueScope, limit: number): Promise<Deadline[]> {
    return this.access.read(() => {
      const rows = this.driver.all(FIND_DEADLINES, [namespace, JSON.stringify(names), limit]);
      const now = this.access.now();
      return rows.map((row) => toDeadline({ ...row, now }));
    });
  }

  async restart(instance: InstanceTarget, request?: RestartRequest): Promise<InstanceChange> {
    const { params = null, keys = null, version = null } = request ?? {};
    const statuses = request?.statuses ? JSON.stringify(request.statuses) : null;
    const newKeys = [Number(keys !== null), keys?.slotKey ?? null, keys?.rateKey ?? null];
    const restart = (now: number) => {
      if (request?.kept !== undefined && !this.#keep(instance, request.kept)) return [];
      this.driver.run(KEEP_PAST_RUN, [...keyOf(instance), statuses]);
      return this.driver.all(RESTART_INSTANCE, [now, ...keyOf(instance), statuses, params, ...newKeys, version]);
    };
    return this.#change(instance, restart, isRestarted);
  }

  async delete(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#change(instance, () => {
      const deleted = this.driver.all(DELETE_INSTANCE, keyOf(instance));
      for (const row of deleted) {
        deleteDependents(this.driver, row.ref as string);
        deleteLabels(this.driver, row);
      }
      return deleted;
    });
  }

  async find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]> {
    if (instances.length === 0) return [];
    return this.access.read(() => instances.map((instance) => this.#get(instance)));
  }

  async positions(refs: readonly string[]): Promise<(InstancePosition | null)[]> {
    const rows = await this.access.read(() => refs.map((ref) => this.driver.all(READ_POSITION, [ref])[0]));
    return rows.map((row) => (row === undefined ? null : toInstancePosition(row)));
  }

  async situation(ref: string): Promise<InstanceSituation | null> {
    return this.access.readSnapshot(() => readSituation(this.driver, ref, this.access.now()));
  }

  async lines(query: LineQuery): Promise<ListedLine[]> {
    return this.access.readSnapshot(() => listLines(this.driver, query, this.access.now()));
  }

  async unreceivedEvents({ ref, run }: InstanceRun, { events, bytes }: EventLimits): Promise<UnreceivedRecords> {
    const rows = await this.access.read(() => this.driver.all(READ_UNRECEIVED_EVENTS, [ref, run, events, bytes]));
    return toUnreceivedEvents(rows);
  }

  async list(filter: InstanceFilter): Promise<InstanceRecord[]> {
    return (await this.access.readSnapshot(() => listInstances(this.driver, filter))).map(toInstanceRecord);
  }

  async reach(filter: InstanceFilter, entries: number): Promise<string | null> {
    return this.access.readSnapshot(() => reachOfList(this.driver, filter, entries));
  }

  async search(search: InstanceSearch): Promise<SearchedInstance[]> {
    return (await this.access.readSnapshot(() => searchInstances(this.driver, search))).map(toSearchedInstance);
  }

  async findByIdPrefix(scope: InstanceScope, prefix: string, limit: number): Promise<string[]> {
    return this.access.readSnapshot(() => findRefsByIdPrefix(this.driver, scope, prefix, limit));
  }

  async counts(namespace: string, names: readonly string[] | null, most: number | null): Promise<InstanceCount[]> {
    return this.access.readSnapshot(() => countInstances(this.driver, namespace, names, most));
  }

  async labelledCounts(
    namespace: string,
    labels: InstanceFilter["labels"],
    from: string | null,
  ): Promise<InstanceCount[]> {
    const [first = [], ...others] = labels;
    return this.access.readSnapshot(() =>
      workflowNames(this.driver, namespace).flatMap((name) =>
        this.driver
          .all(COUNT_LABELLED_INSTANCES, [namespace, name, ...first, JSON.stringify(others), from ?? ""])
          .map(toInstanceCount),
      ),
    );
  }

  async unfinishedVersions({ namespace, names }: QueueScope, limit: number | null): Promise<VersionCount[]> {
    return this.access.read(() =>
      names.flatMap((name) =>
        this.driver.all(COUNT_VERSIONS, [namespace, name, limit ?? -1, UNFINISHED]).map(toVersionCount),
      ),
    );
  }

  /** Reads first, so that a purge with nothing to do doesn't take the write lock. */
  async purge(namespace: string, limit: number): Promise<number> {
    const idle = await this.access.read(() => !hasPurge(this.driver, namespace, this.access.now()));
    if (idle) return 0;
    const purged = await this.access.write(() => {
      return purgeInstances(this.driver, { namespace, now: this.access.now(), limit });
    });
    return purged + (await this.access.write(() => sweepDeleted(this.driver)));
  }

  async history({ ref, run, after, order, limit, maxBytes, dropped = false }: HistoryFilter): Promise<JournalPage> {
    const query = { paged: after !== null, oneRun: run !== null, dropped };
    const parametersOf = (rows: number) => [ref, rows, run, after?.run ?? null, after?.position ?? null];
    return this.access.read(() => {
      const sizes = this.driver
        .all(measureHistory(order, query), parametersOf(limit))
        .map(({ bytes }) => Number(bytes));
      const fitting = countFitting(sizes, maxBytes);
      const rows = this.driver.all(readHistory(order, query), parametersOf(fitting));
      return { entries: rows.map(toHistoryEntry), full: fitting < sizes.length };
    });
  }

  async pastRuns({ ref }: { readonly ref: string }, range?: RunRange): Promise<PastRun[]> {
    const { after = 0, limit = -1 } = range ?? {};
    const rows = await this.access.read(() => this.driver.all(READ_PAST_RUNS, [ref, after, limit]));
    return rows.map(toPastRun);
  }

  async dropProgress({ ref, run, type, name, count, parent, from }: ProgressRange): Promise<void> {
    await this.access.write(() => this.driver.run(DROP_PROGRESS, [ref, run, from, type, name, count, parent]));
  }

  /** Returns false if it has another run by now. */
  #keep(instance: InstanceName, { run, positions, places, events }: KeptEntries): boolean {
    const present = this.#get(instance);
    if (present?.run !== run) return false;
    const entries = positions.map((position, index) => [position, places[index] ?? null]);
    this.driver.run(KEEP_ENTRIES, [present.ref, run, JSON.stringify(entries)]);
    this.driver.run(KEEP_EVENTS, [present.ref, run, JSON.stringify(positions), Number(events === "all")]);
    return true;
  }

  /** `write` gives the instance if its state allowed the change. */
  #change(
    instance: InstanceTarget,
    write: (now: number) => Row[],
    isDone: (change: InstanceChange) => boolean = isAnswered,
  ): Promise<InstanceChange> {
    const change = (): InstanceChange => {
      if (instance.only !== undefined && !isIn(this.#get(instance), instance.only)) {
        return { changed: false, instance: null };
      }
      const now = this.access.now();
      const [before] = this.driver.all(FIND_RANK, keyOf(instance));
      const [row] = write(now);
      if (before && row) this.#tellLines(instance, before, now);
      const changed = { changed: row !== undefined, instance: row ? toInstanceRecord(row) : this.#get(instance) };
      const woken = before && row ? this.#tellWaiters(before, now) : [];
      return woken.length === 0 ? changed : { ...changed, woken };
    };
    return this.access.write(() => doOnce(this.access, instance, change, isDone) ?? REPEATED);
  }

  /** If it shares slots or starts with others: it has let go of its slot, or stands in line now, which can be another one. */
  #tellLines(instance: InstanceName, before: Row, now: number): void {
    const [after] = this.driver.all(FIND_RANK, keyOf(instance));
    const wasHeld = before.slot_key !== null && Number(before.class) === WorkClass.leased;
    const freed = wasHeld && Number(after?.class) !== WorkClass.leased;
    if (freed) freeSlot(this.driver, before.slot_key as string, now);
    if (after === undefined || after.available_at === null) return;
    if (!freed || after.slot_key !== before.slot_key) joinLine(this.driver, toRankedInstance(after), now);
  }

  /** If the change has ended the instance: those that wait for that are told. */
  #tellWaiters(before: Row, now: number): string[] {
    if (before.waiters === null) return [];
    const { ref, namespace, name, id } = before as Record<string, string>;
    const [after] = this.driver.all(GET_INSTANCE, [namespace as string, name as string, id as string]);
    const deleted = after?.ref !== ref;
    const ended = { namespace, name, id, ref, run: Number(before.run) } as InstanceName & InstanceRun;
    const end = deleted ? ({ ...ended, status: "deleted" } as const) : toEnd(ended, after as Row);
    return end === null ? [] : tellWaiters(this.driver, before.waiters as string, end, now);
  }

  #get(instance: InstanceName): InstanceRecord | null {
    const [row] = this.driver.all(GET_INSTANCE, keyOf(instance));
    return row ? toInstanceRecord(row) : null;
  }
}

/** Whether this is the instance, in the run, that something is to be done to. */
export function isIn(instance: Pick<InstanceRun, "ref" | "run"> | null, only: InstanceRun): boolean {
  return instance?.ref === only.ref && Number(instance.run) === only.run;
}

export function keyOf({ namespace, name, id }: InstanceName): SqliteValue[] {
  return [namespace, name, id];
}
