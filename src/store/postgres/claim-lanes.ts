import type { Clock } from "../../clock.ts";
import type { ClaimRequest } from "../queue/claim-request.ts";
import { hookLanes, instanceLanes, type QueueLane } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { WorkClass } from "../queue/work-class.ts";
import { toNumber } from "../rows.ts";
import { compareText } from "../text-order.ts";
import { textArray } from "./array-literals.ts";
import type { PostgresResult } from "./connection/driver.ts";
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

/** Claims from the start of each lane, or from where the last claim stopped. Only the former takes over rows of lost owners. */
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
  const since = lanes.map((lane) => (fromStart ? BEFORE_ALL_RANKS : progress.stoppedAt(lane)));
  const { rows } = await send([...laneColumns(lanes), since, limit, lock, leaseMs, mostLost]);
  const key = QUEUE_KEY[table];
  rows.sort((left, right) => byLane(left, right) || compareText(left[key] as string, right[key] as string));
  if (fromStart) progress.begin();
  for (const row of rows) progress.note(lanes[toNumber(row.index) - 1] as QueueLane, toNumber(row.due_at));
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

/** A claim starts from the beginning at least this often, to find rows that were committed late or have lost their owners. */
const LONGEST_RUN_MS = 2000;

/**
 * Where the claims of a long queue have stopped. A claimed row leaves a dead entry at the front of the index until the next
 * vacuum. While claims return as many rows as they asked for, the next one continues where the last one stopped.
 */
export class ClaimProgress {
  readonly #clock: Clock;
  /** The latest due time that was claimed, by namespace and class. */
  readonly #stoppedAt = new Map<string, number>();
  #resumes = false;
  #startedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the next claim may continue where the last one stopped. */
  resumes(): boolean {
    return this.#resumes && this.#clock.monotonic() - this.#startedAt < LONGEST_RUN_MS;
  }

  stoppedAt({ namespace, class: workClass }: QueueLane): number {
    return this.#stoppedAt.get(`${namespace} ${workClass}`) ?? BEFORE_ALL_RANKS;
  }

  /** A claim has begun, or has started from the beginning again. */
  begin(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#stoppedAt.clear();
  }

  /** A claim has ended. `full` is whether it got as many rows as it asked for. */
  end({ full }: { full: boolean }): void {
    this.#resumes = full;
  }

  /** A row of this lane was claimed. Takeovers and priorities are always searched from the beginning. */
  note({ namespace, class: workClass }: QueueLane, dueAt: number): void {
    if (workClass !== WorkClass.continuing && workClass !== WorkClass.fresh) return;
    const lane = `${namespace} ${workClass}`;
    this.#stoppedAt.set(lane, Math.max(this.#stoppedAt.get(lane) ?? 0, dueAt));
  }
}
