import { instanceNotFound } from "../../errors.ts";
import type {
  HistoryEntry,
  InstanceName,
  InstanceRecord,
  InstanceStatus,
} from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { decodeValue, describeError } from "../../values/index.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import {
  BEFORE_END,
  END,
  type EventDetails,
  eventIdOf,
  type WorkflowInstanceEvent,
  type WorkflowInstanceSubscription,
} from "./instance-event.ts";
import { InstanceWatcher } from "./instance-watchers.ts";
import { JournalEvents, shownValue } from "./journal-events.ts";

type Result = IteratorResult<WorkflowInstanceEvent, void>;

/** Entries per read; fewer if they are large. */
const MOST_ENTRIES = 50;
/** Bytes of stored values that are kept in memory for a slow reader. The rest is read again later. */
const MOST_HELD_BYTES = 32 * 1024;

/**
 * Events of the present status, which aren't stored: each uses a slot of the journal's last entry, and is delivered at most
 * once.
 */
const STATUS_EVENTS: Partial<Record<InstanceStatus, { slot: number; type: EventDetails["type"] }>> = {
  waiting: { slot: 10, type: "workflow_waiting" },
  diverged: { slot: 10, type: "workflow_waiting" },
  waitingForPause: { slot: 11, type: "workflow_waiting_for_pause" },
  paused: { slot: 12, type: "workflow_paused" },
  running: { slot: 13, type: "workflow_running" },
};

/** Fields of events that show stored values. */
const VALUES: readonly string[] = ["params", "output", "error", "value"];

/**
 * One reader of an instance's events. It reads the journal from the beginning of a run, page by page on demand, and skips the
 * events up to its cursor; so events and their ids follow from the stored rows alone. At the end of the journal it waits for
 * more. It reads the instance's row before the journal: if the row says that the run has ended, the journal is complete.
 */
export class Subscription implements WorkflowInstanceSubscription {
  readonly #runtime: WorkflowRuntime;
  readonly #name: InstanceName;
  readonly #filter: ReadonlySet<string> | null;
  readonly #watcher: InstanceWatcher;
  /** The id of the last event that the reader has. */
  #cursor: number;
  #run: number;
  #position = 0;
  #events = new JournalEvents();
  /** Events that weren't asked for yet. A large one is never behind others: it is read again when they have gone. */
  #buffer: WorkflowInstanceEvent[] = [];
  /** Of the values in the buffer. */
  #held = 0;
  /** Whether an event that comes next had no room in the buffer. */
  #full = false;
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

  /** Answers concurrent calls one after the other. */
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
        if ((await this.#runtime.watchers.reading(() => this.#read())) || this.#buffer.length > 0) continue;
      } catch (error) {
        this.#end();
        throw error;
      }
      if (!this.#over) await this.#runtime.watchers.wait(this.#watcher);
    }
    const event = this.#buffer.shift();
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  /** Whether more may be readable now. */
  async #read(): Promise<boolean> {
    this.#held = 0;
    this.#full = false;
    const { statements } = this.#runtime.store.instances;
    const [record] = await statements.find([this.#name]);
    if (record?.ref !== this.#watcher.ref) throw instanceNotFound(this.#name.name, this.#name.id);
    const view = await findRun(statements, record, this.#run);
    this.#tellBeginning(view);
    if (this.#full) return true;
    const { entries, full } = await statements.history({
      ref: record.ref,
      instance: record,
      run: this.#run,
      after: { run: this.#run, position: this.#position },
      order: "oldest",
      limit: MOST_ENTRIES,
      maxBytes: MOST_HELD_BYTES,
      dropped: true,
    });
    this.#tellEntries(entries);
    if (this.#full || full || entries.length === MOST_ENTRIES) return true;
    const end = endOfRun(view);
    if (end !== null) this.#tellEnd(end, view, record.run);
    else if (record.run > this.#run) this.#beginRun(this.#run + 1);
    else return this.#settle(record, entries.length > 0);
    return true;
  }

  /** An entry whose events don't all fit comes again with the next page: the cursor skips the events that were delivered. */
  #tellEntries(entries: readonly HistoryEntry[]): void {
    for (const entry of entries) {
      const bytes = entry.value?.length ?? 0;
      for (const event of this.#events.tell(entry)) this.#tell(entry.position, entry.at, event, bytes);
      if (this.#full) return;
      this.#position = entry.position;
    }
  }

  #tellBeginning({ queuedAt, startedAt, params }: RunView): void {
    this.#tell(0, queuedAt, { slot: 0, type: "workflow_queued" });
    if (startedAt === null) return;
    this.#tell(0, startedAt, { slot: 1, type: "workflow_started", params: shownValue(params) }, params.length);
    this.#tell(0, startedAt, { slot: 2, type: "workflow_running" });
  }

  /** A reader that already has the end of an earlier run continues with the next run. */
  #tellEnd({ at, ...event }: EventDetails & { at: number }, { output, error }: RunView, presentRun: number): void {
    const known = eventIdOf({ run: this.#run, position: END, slot: 0 }) <= this.#cursor;
    if (known && presentRun > this.#run) {
      this.#beginRun(this.#run + 1);
      return;
    }
    for (const earlier of this.#events.tellEnd()) this.#tell(BEFORE_END, at, earlier);
    this.#tell(END, at, { slot: 0, ...event }, (output?.length ?? 0) + (error?.length ?? 0));
    if (!this.#full) this.#end();
  }

  /** The journal is read to its end: unless that brought events, reports the instance's status. */
  #settle({ run, status }: InstanceRecord, news: boolean): boolean {
    this.#watcher.seen = { run, status, position: this.#position };
    if (news) return true;
    const event = STATUS_EVENTS[status];
    const last = eventIdOf({ run, position: this.#position, slot: 0 });
    // `running` is reported only after another event.
    if (event === undefined || (status === "running" && this.#cursor < last + 10)) return false;
    this.#tell(this.#position, this.#runtime.store.clock.now(), event as EventDetails & { slot: number });
    return false;
  }

  #beginRun(run: number): void {
    this.#run = run;
    this.#position = 0;
    this.#events = new JournalEvents();
  }

  /**
   * `bytes`: of the stored value that the event may show. Once an event has no room, none after it is told before the next
   * read.
   */
  #tell(
    position: number,
    timestamp: number,
    { slot, ...details }: EventDetails & { slot: number },
    bytes: number = 0,
  ): void {
    const eventId = eventIdOf({ run: this.#run, position, slot });
    if (eventId <= this.#cursor || this.#full) return;
    const wanted = this.#filter === null || this.#filter.has(details.type);
    const held = wanted && VALUES.some((name) => name in details) ? bytes : 0;
    this.#full = held > 0 && this.#buffer.length > 0 && this.#held + held > MOST_HELD_BYTES;
    if (this.#full) return;
    this.#held += held;
    this.#cursor = eventId;
    if (!wanted) return;
    const event = { instanceId: this.#name.id, eventId, timestamp, run: this.#run, ...details };
    this.#buffer.push(event as WorkflowInstanceEvent);
  }

  #end(): void {
    this.#over = true;
    this.#runtime.watchers.leave(this.#watcher);
  }
}

/** One run of an instance, present or earlier. */
interface RunView {
  readonly params: string;
  readonly status: InstanceStatus;
  readonly output: string | null;
  readonly error: string | null;
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/**
 * The time of a restart isn't stored: its run counts as queued when the run before it ended or, if that run didn't end, when it
 * began.
 */
async function findRun(
  statements: Pick<InstanceStatements, "pastRuns">,
  record: InstanceRecord,
  run: number,
): Promise<RunView> {
  if (run === 1 && record.run === 1) return { ...record, queuedAt: record.createdAt };
  const past = await statements.pastRuns(record, { after: run - 2, limit: 2 });
  const before = past.find((one) => one.run === run - 1);
  const queuedAt = before?.finishedAt ?? before?.startedAt ?? record.createdAt;
  return { params: record.params, ...(past.find((one) => one.run === run) ?? record), queuedAt };
}

/** How the run ended; null if it hasn't, or was restarted before its end. */
function endOfRun({ status, output, error, finishedAt }: RunView): (EventDetails & { at: number }) | null {
  const at = finishedAt ?? 0;
  if (status === "complete") return { at, type: "workflow_completed", output: decodeValue(output as string) };
  if (status === "errored") return { at, type: "workflow_errored", error: describeError(decodeValue(error as string)) };
  return status === "terminated" ? { at, type: "workflow_terminated" } : null;
}
