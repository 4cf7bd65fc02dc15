import type { Clock } from "../../clock.ts";
import type { ClaimRequest } from "../queue/claim-request.ts";
import { hookLanes, instanceLanes, type QueueLane } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { WorkClass } from "../queue/work-class.ts";
import { toNumber } from "../rows.ts";
import { compareText } from "../text-order.ts";
import { textArray } from "./array-literals.ts";
import type { PostgresResult } from "./connection/driver.ts";
import { QueueHorizon } from "./queue-horizon.ts";
import { QUEUE_KEY, type QueueTable } from "./sql/queue.ts";

type Row = Record<string, unknown>;

/** Sends a claim with these parameters after the time. */
type SendClaim = (values: unknown[]) => Promise<PostgresResult>;

/** Claims due rows, first from where the last claim stopped and then from the start. Returns them in the order of the claim. */
export async function claimLanes(
  table: QueueTable,
  request: ClaimRequest,
  progress: ClaimProgress,
  send: SendClaim,
): Promise<Row[]> {
  if (request.limit <= 0) return [];
  const claimed = progress.resumes() ? await claimFrom(table, request, progress, false, send) : [];
  if (claimed.length === request.limit) return claimed;
  const rest = { ...request, limit: request.limit - claimed.length };
  return claimed.concat(await claimFrom(table, rest, progress, true, send));
}

/**
 * Claims from the start of each lane, or of what the horizon leaves of it; or from where the last claim stopped, and then takes
 * over no rows of lost owners.
 */
async function claimFrom(
  table: QueueTable,
  request: ClaimRequest,
  progress: ClaimProgress,
  fromStart: boolean,
  send: SendClaim,
): Promise<Row[]> {
  const { limit, lock, leaseMs, mostLost = 1 } = request;
  const lanesOf = table === "hook" ? hookLanes : instanceLanes;
  const lanes = lanesOf(request.scopes, request.takeOver && fromStart);
  if (lanes.length === 0) return [];
  const since = fromStart ? progress.horizon.since(lanes) : lanes.map((lane) => progress.stoppedAt(lane));
  const sentAt = progress.now;
  const { rows } = await send([...laneColumns(lanes), since ?? wholeLanes(lanes), limit, lock, leaseMs, mostLost]);
  const key = QUEUE_KEY[table];
  rows.sort((left, right) => byLane(left, right) || compareText(left[key] as string, right[key] as string));
  if (fromStart) progress.begin(since === null ? progress.now - sentAt : 0);
  let tookOver = false;
  for (const row of rows) {
    const lane = lanes[toNumber(row.index) - 1] as QueueLane;
    progress.note(lane, toNumber(row.due_at));
    tookOver ||= lane.class === WorkClass.leased;
  }
  if (rows.length > 0 && !tookOver) progress.noteNoneLost(lanes, toNumber(rows[0]?.claimed_at));
  progress.end({ full: rows.length === limit });
  return rows;
}

/** The order in which a claim takes rows. An update returns them in any order. */
function byLane(left: Row, right: Row): number {
  return toNumber(left.index) - toNumber(right.index) || toNumber(left.due_at) - toNumber(right.due_at);
}

/** Lanes as columns. The names of a lane are an array literal, because PostgreSQL's nested arrays must be of one length. */
export function laneColumns(lanes: readonly QueueLane[]): unknown[] {
  return [
    lanes.map((lane) => lane.namespace),
    lanes.map((lane) => lane.class),
    lanes.map((lane) => textArray(lane.names)),
  ];
}

/** For a look at all of each lane. */
export function wholeLanes(lanes: readonly QueueLane[]): number[] {
  return lanes.map(() => BEFORE_ALL_RANKS);
}

/**
 * A claim starts from the beginning about this often, to find rows that were committed late or have lost their owners; less
 * often, if that takes more than a twentieth of the time.
 */
const LONGEST_RUN_MS = 2000;
const RUN_SHARE = 20;

/**
 * Where the claims of a long queue have stopped. A claimed row leaves a dead entry at the front of the index until the next
 * vacuum. While claims return as many rows as they asked for, the next one continues where the last one stopped.
 */
export class ClaimProgress {
  readonly #clock: Clock;
  readonly horizon: QueueHorizon;
  /** The latest due time that was claimed, by namespace and class. */
  readonly #stoppedAt = new Map<string, number>();
  #resumes = false;
  /** When the claims must start from the beginning again. */
  #restartAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.horizon = new QueueHorizon(clock);
  }

  get now(): number {
    return this.#clock.monotonic();
  }

  /** Whether the next claim may continue where the last one stopped. */
  resumes(): boolean {
    return this.#resumes && this.now < this.#restartAt;
  }

  stoppedAt({ namespace, class: workClass }: QueueLane): number {
    return this.#stoppedAt.get(`${namespace} ${workClass}`) ?? BEFORE_ALL_RANKS;
  }

  /** A claim has started from the beginning, and has read all of the lanes in this time. */
  begin(tookMs: number): void {
    this.#restartAt = this.now + Math.max(LONGEST_RUN_MS, tookMs * RUN_SHARE);
    this.#stoppedAt.clear();
  }

  /** A claim has ended. `full` is whether it got as many rows as it asked for. */
  end({ full }: { full: boolean }): void {
    this.#resumes = full;
  }

  /** A row of this lane was claimed. Takeovers and priorities are always searched from the beginning. */
  note(lane: QueueLane, dueAt: number): void {
    const { namespace, class: workClass } = lane;
    if (workClass !== WorkClass.continuing && workClass !== WorkClass.fresh) return;
    const key = `${namespace} ${workClass}`;
    this.#stoppedAt.set(key, Math.max(this.#stoppedAt.get(key) ?? 0, dueAt));
    this.horizon.emptied(lane, dueAt);
  }

  /** Of these lanes, those of leases had no row to take over. */
  noteNoneLost(lanes: readonly QueueLane[], at: number): void {
    for (const lane of lanes) if (lane.class === WorkClass.leased) this.horizon.emptied(lane, at);
  }
}
