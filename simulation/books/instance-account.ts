import type {
  InstanceInsert,
  InstanceLease,
  InstanceStatus,
  KeptEntries,
  NewEntry,
  RollbackReason,
} from "../../src/store/instances/instance-records.ts";
import { isNotice } from "../../src/store/instances/instance-records.ts";

/** An entry of a journal, when it was written, and with which token. */
export interface WrittenEntry extends NewEntry {
  readonly lock: string;
  readonly at: number;
  /** Whether its value isn't needed any more. */
  dropped?: true;
}

/** An event that an instance has. */
export interface EventAccount {
  readonly n: number;
  readonly eventId: string;
  readonly process: string;
  readonly type: string;
  readonly sequence: number;
  readonly at: number;
  /** The step that got it. */
  receivedBy: string | null;
}

/** What belongs to one run. */
export interface RunAccount {
  readonly journal: WrittenEntry[];
  readonly events: EventAccount[];
  /** How many entries it has from the run before. */
  readonly kept: number;
}

export type InstanceState = "live" | "complete" | "errored" | "terminated" | "gone";

/** What the database must have of one instance, according to its answers to callers. */
export interface InstanceAccount {
  readonly ref: string;
  readonly name: string;
  readonly id: string;
  readonly parent: string | null;
  /** Of the call that created it; null if a workflow did. */
  readonly n: number | null;
  /** The key that it shares with others, which limits how many run at a time, or start in a period. */
  readonly slotKey: string | null;
  readonly rateKey: string | null;
  /** As JSON. */
  readonly labels: string | null;
  /** How long it is kept after it completed, or after it failed or was terminated; null means for ever. */
  readonly successRetention: number | null;
  readonly errorRetention: number | null;
  state: InstanceState;
  run: number;
  readonly runs: Map<number, RunAccount>;
  /** Whether it has an owner. An owner whose lease has ended counts until another worker takes over. */
  held: boolean;
  /** The token of its owner, or of the owner that parked or finished it. */
  lock: string | null;
  /** When it is due, or the end of the lease. */
  availableAt: number | null;
  paused: boolean;
  /** What it will be when its rollback is over. */
  rollingBack: RollbackReason | null;
  /** The owner at the time of an operator's rollback or restart. It learns this from its next write. */
  disowned: string | null;
  /** Whether a commit has told its owner about the pause, so that it can begin nothing. */
  toldOfPause: boolean;
  wakes: number;
  /** How many owners were lost since the last entry, or since it was parked. */
  recoveries: number;
  /** Whether its owner has written that it begins. */
  confirmed: boolean;
  /** How many owners were lost since the last entry, however often it was parked. */
  losses: number;
  started: boolean;
  /** How often it was given back, uncounted. */
  releases: number;
  /** Encoded outputs of all runs that were completed. */
  readonly outputs: Set<string>;
  finishedAt: number;
  /** The error of the present run while it is rolled back. */
  error: string | null;
}

function newRun(): RunAccount {
  return { journal: [], events: [], kept: 0 };
}

/** Of the call that created an instance; null if a workflow or a schedule did. */
export function creationOf(params: string): number | null {
  return (JSON.parse(params) as { n: number | null }).n;
}

/** Of an instance that was created at this time. */
export function newAccount(instance: InstanceInsert, n: number | null, at: number): InstanceAccount {
  const { ref, name, id, parent, lease, traits } = instance;
  return {
    ref,
    name,
    id,
    parent,
    n,
    slotKey: traits?.slotKey ?? null,
    rateKey: traits?.rateKey ?? null,
    labels: traits?.labels ?? null,
    successRetention: traits?.successRetention ?? null,
    errorRetention: traits?.errorRetention ?? null,
    state: "live",
    run: 1,
    runs: new Map([[1, newRun()]]),
    held: lease !== null,
    lock: lease?.lock ?? null,
    availableAt: lease === null ? at : at + lease.leaseMs,
    paused: false,
    rollingBack: null,
    disowned: null,
    toldOfPause: false,
    wakes: 0,
    recoveries: 0,
    confirmed: false,
    losses: 0,
    started: lease !== null,
    releases: 0,
    outputs: new Set(),
    finishedAt: 0,
    error: null,
  };
}

/**
 * What the next run begins with: some entries, the events that they received, and, if that is asked for, all others that
 * callers have sent.
 */
export function copyRun({ journal, events }: RunAccount, kept: KeptEntries | undefined): RunAccount {
  if (kept === undefined) return newRun();
  const entries = kept.positions.map((position, index) => {
    const entry = journal[position - 1] as WrittenEntry;
    return { ...entry, began: kept.places[index] ?? null }; // dropped by itself
  });
  const received = new Set(entries.map(({ event }) => event));
  return {
    journal: entries,
    events: events
      .filter(({ sequence, type }) => (kept.events === "all" && !isNotice(type)) || received.has(sequence))
      .map((event) => ({ ...event, receivedBy: received.has(event.sequence) ? event.receivedBy : null })),
    kept: entries.length,
  };
}

export function runOf({ runs, run }: InstanceAccount): RunAccount {
  return runs.get(run) as RunAccount;
}

export function isOwner({ state, run, held, lock }: InstanceAccount, lease: InstanceLease): boolean {
  return state === "live" && held && run === lease.run && lock === lease.lock;
}

/** When it may be purged; null is never. */
export function purgeAt({ state, finishedAt, successRetention, errorRetention }: InstanceAccount): number | null {
  if (state === "live" || state === "gone") return null;
  const retention = state === "complete" ? successRetention : errorRetention;
  return retention === null ? null : finishedAt + retention;
}

/** As users see it. */
export function statusOf(account: InstanceAccount): InstanceStatus | "gone" {
  const { state, held, paused, started, rollingBack } = account;
  if (state !== "live") return state;
  if (paused) return held ? "waitingForPause" : "paused";
  if (rollingBack !== null) return "rollingBack";
  if (held) return "running";
  return started ? "waiting" : "queued";
}

/** Whether this entry ends its step. */
export function isEnding({ kind, dueAt }: NewEntry): boolean {
  return kind === "completed" || kind === "received" || kind === "timedOut" || (kind === "failed" && dueAt === null);
}

/** An ending as the workflow's code receives it. */
export function describeEnding(entry: NewEntry, { events }: RunAccount): string {
  const step = stepOf(entry);
  if (entry.kind !== "received") return `${step} ${entry.kind}`;
  if (entry.type === "result") return `${step} completed`; // the code sees what the other instance gave
  return `${step} received ${events.find(({ sequence }) => sequence === entry.event)?.n}`;
}

/** A step as its idempotency key names it. Steps inside another step are named after that one. */
export function stepOf(step: {
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly parent?: string | null;
}): string {
  const { type, name, count, parent = null } = step;
  const short = count === 1 ? `${type}:${name}` : `${type}:${name}#${count}`;
  return parent === null ? short : `${parent}/${type}:${name}#${count}`;
}
