import type {
  HistoryEntry,
  InstanceName,
  InstanceRecord,
  InstanceStatus,
} from "../../store/instances/instance-records.ts";
import { decodeValue } from "../../values/index.ts";
import { notFound } from "../instances/not-found.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { EventDetails } from "./event-details.ts";
import { BEFORE_END, END, eventIdOf } from "./event-id.ts";
import type { WorkflowInstanceEvent, WorkflowInstanceSubscription } from "./instance-event.ts";
import { InstanceWatcher } from "./instance-watchers.ts";
import { JournalEvents } from "./journal-events.ts";
import { endOfRun, findRun, type RunView } from "./run-view.ts";

type Result = IteratorResult<WorkflowInstanceEvent, void>;

/** Entries that are read at once: fewer where they are large. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 50;
/** Characters of stored values that are held in memory for a reader that is slow. What is beyond them is read again later. */
const MOST_HELD = 32 * 1024;

/** Seen at the end of a journal, and not stored: in these slots of its last entry, each told at most once. */
const STATUS_EVENTS: Partial<Record<InstanceStatus, { slot: number; type: EventDetails["type"] }>> = {
  waiting: { slot: 10, type: "workflow_waiting" },
  waitingForPause: { slot: 11, type: "workflow_waiting_for_pause" },
  paused: { slot: 12, type: "workflow_paused" },
  running: { slot: 13, type: "workflow_running" },
};

/**
 * One reader of what happens to an instance. It reads the journal from the beginning of a run, page by page as it is asked, and
 * leaves out what its cursor says was told; so what it tells, and the ids, follow from what is stored alone. At the end of the
 * journal it waits for more. The instance's row is read before the journal: when it says that the run is over, so is the journal.
 */
export class Subscription implements WorkflowInstanceSubscription {
  readonly #runtime: WorkflowRuntime;
  readonly #name: InstanceName;
  readonly #filter: ReadonlySet<string> | null;
  readonly #watcher: InstanceWatcher;
  /** Of the last event that was told, or that the reader has. */
  #cursor: number;
  #run: number;
  #position = 0;
  #limit = FIRST_PAGE;
  #events = new JournalEvents();
  #buffer: WorkflowInstanceEvent[] = [];
  #over = false;
  #asked: Promise<unknown> = Promise.resolve();

  constructor(
    runtime: WorkflowRuntime,
    name: InstanceName & { readonly ref: string },
    start: { readonly run: number; readonly cursor: number; readonly filter: ReadonlySet<string> | null },
  ) {
    this.#runtime = runtime;
    this.#name = name;
    this.#run = start.run;
    this.#cursor = start.cursor;
    this.#filter = start.filter;
    this.#watcher = new InstanceWatcher(name.ref);
    runtime.watchers.join(this.#watcher);
  }

  /** Calls that are made at once are answered one after the other. */
  next(): Promise<Result> {
    const answer = this.#asked.then(() => this.#next());
    this.#asked = answer.catch(() => {});
    return answer;
  }

  async return(): Promise<Result> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#buffer = [];
    this.#watcher.tell();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<Result> {
    while (this.#buffer.length === 0 && !this.#over) {
      this.#watcher.stale = false;
      try {
        if ((await this.#read()) || this.#buffer.length > 0) continue;
      } catch (error) {
        this.#end();
        throw error;
      }
      if (!this.#over) await this.#runtime.watchers.wait(this.#watcher);
    }
    const event = this.#buffer.shift();
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  /** Whether there may be more to read at once. */
  async #read(): Promise<boolean> {
    const { statements } = this.#runtime.store.instances;
    const [record] = await statements.find([this.#name]);
    if (record?.ref !== this.#watcher.ref) throw notFound(this.#name.name, this.#name.id);
    const view = await findRun(statements, record, this.#run);
    this.#tellBeginning(view);
    const after = { run: this.#run, position: this.#position };
    const order = "oldest" as const;
    const page = { ref: record.ref, instance: record, run: this.#run, after, order, limit: this.#limit, dropped: true };
    const entries = await this.#runtime.watchers.reading(() => statements.history(page));
    if (this.#take(entries) < entries.length || entries.length === page.limit) return true;
    const end = endOfRun(view);
    if (end !== null) this.#tellEnd(end, record.run);
    else if (record.run > this.#run) this.#beginRun(this.#run + 1);
    else return this.#settle(record, entries.length > 0);
    return true;
  }

  /** Tells as many entries as may be held, and gives how many those are. */
  #take(entries: readonly HistoryEntry[]): number {
    let [taken, held] = [0, 0];
    for (const entry of entries) {
      held += (entry.value?.length ?? 0) + (entry.eventPayload?.length ?? 0);
      if (held > MOST_HELD && taken > 0) break;
      this.#position = entry.position;
      for (const event of this.#events.tell(entry)) this.#tell(entry.position, entry.at, event);
      taken += 1;
    }
    if (taken > 0) this.#limit = Math.min(Math.max(Math.ceil((MOST_HELD * taken) / (held + 1)), 1), LARGEST_PAGE);
    return taken;
  }

  #tellBeginning({ queuedAt, startedAt, params }: RunView): void {
    this.#tell(0, queuedAt, { slot: 0, type: "workflow_queued" });
    if (startedAt === null) return;
    this.#tell(0, startedAt, { slot: 1, type: "workflow_started", params: decodeValue(params) });
    this.#tell(0, startedAt, { slot: 2, type: "workflow_running" });
  }

  /** A reader that has the end of an earlier run already wants to know how it goes on. */
  #tellEnd({ at, ...event }: EventDetails & { at: number }, presentRun: number): void {
    const known = eventIdOf({ run: this.#run, position: END, slot: 0 }) <= this.#cursor;
    if (known && presentRun > this.#run) {
      this.#beginRun(this.#run + 1);
      return;
    }
    for (const earlier of this.#events.tellEnd()) this.#tell(BEFORE_END, at, earlier);
    this.#tell(END, at, { slot: 0, ...event });
    this.#end();
  }

  /** Everything was read; unless that was news, tells how the instance stands. */
  #settle({ run, status }: InstanceRecord, news: boolean): boolean {
    this.#watcher.seen = { run, status, position: this.#position };
    if (news) return true;
    const event = STATUS_EVENTS[status];
    const last = eventIdOf({ run, position: this.#position, slot: 0 });
    // That it runs is worth telling only after something else was told.
    if (event === undefined || (status === "running" && this.#cursor < last + 10)) return false;
    this.#tell(this.#position, this.#runtime.store.clock.now(), event as EventDetails & { slot: number });
    return false;
  }

  #beginRun(run: number): void {
    this.#run = run;
    this.#position = 0;
    this.#events = new JournalEvents();
  }

  #tell(position: number, timestamp: number, { slot, ...details }: EventDetails & { slot: number }): void {
    const eventId = eventIdOf({ run: this.#run, position, slot });
    if (eventId <= this.#cursor) return;
    this.#cursor = eventId;
    if (this.#filter !== null && !this.#filter.has(details.type)) return;
    const event = { instanceId: this.#name.id, eventId, timestamp, run: this.#run, ...details };
    this.#buffer.push(event as WorkflowInstanceEvent);
  }

  #end(): void {
    this.#over = true;
    this.#runtime.watchers.leave(this.#watcher);
  }
}
