import type { ClaimedInstance } from "../../instances/instance-records.ts";
import { toClaimedInstance } from "../../instances/instance-rows.ts";
import { type AdmitRequest, type Line, LineKind, type LineLimits, type StartRate } from "../../lines/line-records.ts";
import {
  type Candidate,
  chooseStarts,
  LEFT_DELAY_MS,
  LINE_DEPTH,
  MOST_LINES,
  MOST_PASSES,
  rateKeysOf,
  settleLine,
  shareOf,
} from "../../lines/look-at-line.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteAccess, SqliteDriver } from "../drivers/driver.ts";
import { CLAIM_INSTANCES } from "../sql/instances-claim.ts";
import {
  COUNT_HELD,
  COUNT_STARTS,
  DROP_LINE,
  FIND_CANDIDATE,
  FIND_CONTINUING,
  FIND_LINES,
  FIND_START,
  FORGET_STARTS,
  FREE_SLOT,
  findLeft,
  findStarts,
  INSERT_START,
  JOIN_LINE,
  NEXT_IN_LINE,
  SETTLE_LINE,
} from "../sql/lines.ts";

type Row = Record<string, unknown>;

/** An instance's class, and the keys of the limits that it shares. */
export interface RankedInstance {
  readonly class: WorkClass;
  readonly namespace: string;
  readonly name: string;
  readonly slotKey: string | null;
  readonly rateKey: string | null;
}

export function toRankedInstance(row: Record<string, unknown>): RankedInstance {
  return {
    class: Number(row.class) as WorkClass,
    namespace: row.namespace as string,
    name: row.name as string,
    slotKey: row.slot_key as string | null,
    rateKey: row.rate_key as string | null,
  };
}

/** Makes the line due, in the transaction that puts an instance into it or makes one of its members due. */
export function joinLine(driver: SqliteDriver, place: RankedInstance, now: number): void {
  if (place.class !== WorkClass.lineContinuing && place.class !== WorkClass.lineFresh) return;
  const { slotKey, rateKey, namespace, name } = place;
  const line = slotKey === null ? [LineKind.starts, rateKey] : [LineKind.slots, slotKey];
  driver.run(JOIN_LINE, [...line, namespace, name, now]);
}

/** Makes the line due, in the transaction that finishes, parks or releases an instance with a slot. */
export function freeSlot(driver: SqliteDriver, slotKey: string, now: number): void {
  driver.run(FREE_SLOT, [now, slotKey]);
}

interface Started {
  readonly rows: Row[];
  /** When something can start that can't now. */
  readonly startsAt: number | null;
}

const FIND_STARTS = { [LineKind.slots]: findStarts(LineKind.slots), [LineKind.starts]: findStarts(LineKind.starts) };

const FIND_LEFT = { [LineKind.slots]: findLeft(LineKind.slots), [LineKind.starts]: findLeft(LineKind.starts) };

/** Admits instances from lines as their limits allow. */
export class SqliteAdmission {
  readonly #access: SqliteAccess;
  readonly #driver: SqliteDriver;

  constructor(access: SqliteAccess) {
    this.#access = access;
    this.#driver = access.driver;
  }

  async admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    if (request.room <= 0) return [];
    // Looking first keeps idle claimers from taking the write lock.
    const due = await this.#access.read(() => this.#findLines(request, this.#access.now(), 1));
    if (due.length === 0) return [];
    return this.#access.write(() => this.#admitDue(request, this.#access.now()));
  }

  #admitDue(request: AdmitRequest, now: number): ClaimedInstance[] {
    const lines = this.#findLines(request, now, MOST_LINES);
    const share = shareOf(request.room, lines.length);
    const admitted: ClaimedInstance[] = [];
    for (const line of lines) {
      const room = Math.min(share, request.room - admitted.length);
      if (room <= 0) break;
      const rows = this.#admitFrom(line, { ...request, room }, now);
      admitted.push(...rows.map((row) => toClaimedInstance({ ...row, lock: request.lock, claimed_at: now })));
    }
    return admitted;
  }

  #findLines({ scopes }: AdmitRequest, now: number, limit: number): Line[] {
    const rows = scopes.flatMap(({ namespace, names }) =>
      this.#driver.all(FIND_LINES, [namespace, now, JSON.stringify(names), limit]),
    );
    rows.sort((left, right) => Number(left.available_at) - Number(right.available_at));
    return rows.slice(0, limit) as unknown as Line[];
  }

  #admitFrom(line: Line, request: AdmitRequest, now: number): Row[] {
    const limits = request.limitsOf(line.namespace, line.name);
    return line.kind === LineKind.slots
      ? this.#admitToSlots(line, limits, request, now)
      : this.#admitToStarts(line, limits, request, now);
  }

  #admitToSlots(line: Line, { slots, starts }: LineLimits, request: AdmitRequest, now: number): Row[] {
    const { room } = request;
    const held = Number(this.#driver.all(COUNT_HELD, [line.key, ""])[0]?.held);
    const free = slots === null ? Number.POSITIVE_INFINITY : Math.max(slots - held, 0);
    const allowed = Math.min(free, room);
    const continuing = this.#driver.all(FIND_CONTINUING, [line.key, now, versionsIn(line, request), allowed]);
    this.#lease(continuing, request, now);
    const started = this.#start(line, starts, { ...request, room: allowed - continuing.length }, now);
    const rows = [...continuing, ...started.rows];
    const look = { full: free <= rows.length, more: rows.length === room, startsAt: started.startsAt };
    const { blocked, until, wakes } = settleLine(look, false, now);
    const [next] = wakes ? this.#driver.all(NEXT_IN_LINE, [line.key]) : [];
    const sleeps = next === undefined ? null : Number(next.available_at);
    // A member that is due, and was not taken, has a version that this process lacks.
    const nextAt = sleeps !== null && sleeps <= now ? now + LEFT_DELAY_MS : sleeps;
    const left = wakes && until === null ? this.#lookAtLeft(line, now) : null;
    const availableAt = earliest(until ?? left, nextAt);
    this.#driver.run(SETTLE_LINE, [blocked ? 1 : 0, availableAt, line.kind, line.key]);
    if (held + rows.length === 0 && availableAt === null) this.#driver.run(DROP_LINE, [line.kind, line.key]);
    return rows;
  }

  #admitToStarts(line: Line, { starts }: LineLimits, request: AdmitRequest, now: number): Row[] {
    const { rows, startsAt } = this.#start(line, starts, request, now);
    this.#driver.run(FORGET_STARTS, [line.key, starts === null ? now : now - starts.periodMs]);
    const look = { full: false, more: rows.length === request.room, startsAt };
    const { blocked, until } = settleLine(look, true, now);
    const latest = this.#driver.all(COUNT_STARTS, [line.key])[0]?.latest ?? null;
    const next = until ?? this.#lookAtLeft(line, now);
    const forgetAt = latest === null || starts === null ? null : Number(latest) + starts.periodMs;
    this.#driver.run(SETTLE_LINE, [blocked ? 1 : 0, next ?? forgetAt, line.kind, line.key]);
    if (next === null && forgetAt === null) this.#driver.run(DROP_LINE, [line.kind, line.key]);
    return rows;
  }

  /** Starts what may start, in the order of the line, past those whose rates are used up. */
  #start(line: Line, rate: StartRate | null, request: AdmitRequest, now: number): Started {
    const rows: Row[] = [];
    const usedUp = new Set<string>();
    let startsAt: number | null = null;
    for (let pass = 0; pass < MOST_PASSES && rows.length < request.room; pass++) {
      const wanted = request.room - rows.length;
      const parameters = [line.key, versionsIn(line, request), LINE_DEPTH, JSON.stringify([...usedUp]), wanted];
      const found = this.#driver.all(FIND_STARTS[line.kind], parameters);
      const candidates = found.map((row) => ({ ref: row.ref, rateKey: row.rate_key }) as Candidate);
      const left = new Map(rateKeysOf(candidates).map((key) => [key, this.#startsLeft(key, rate, now)]));
      const chosen = chooseStarts(candidates, left);
      rows.push(...this.#startChosen(chosen, rate, request, now));
      if (candidates.length < wanted && chosen.length === candidates.length) break; // nothing of these is held up
      for (const [key, starts] of left) {
        if (starts > 0) continue;
        usedUp.add(key);
        startsAt = earliest(startsAt, this.#nextStart(key, rate as StartRate));
      }
    }
    return { rows, startsAt };
  }

  /** When to look again, if a member is left that no limit holds up: it has a version that this process lacks. */
  #lookAtLeft(line: Line, now: number): number | null {
    const [left] = this.#driver.all(FIND_LEFT[line.kind], [line.key]);
    return left === undefined ? null : now + LEFT_DELAY_MS;
  }

  #startsLeft(key: string, rate: StartRate | null, now: number): number {
    if (rate === null) return Number.POSITIVE_INFINITY;
    this.#driver.run(FORGET_STARTS, [key, now - rate.periodMs]);
    return rate.limit - Number(this.#driver.all(COUNT_STARTS, [key])[0]?.starts);
  }

  #nextStart(key: string, { limit, periodMs }: StartRate): number | null {
    const [start] = this.#driver.all(FIND_START, [key, limit - 1]);
    return start === undefined ? null : Number(start.at) + periodMs;
  }

  #startChosen(refs: readonly string[], rate: StartRate | null, request: AdmitRequest, now: number): Row[] {
    const rows = refs.flatMap((ref) => this.#driver.all(FIND_CANDIDATE, [ref]));
    this.#lease(rows, request, now);
    if (rate === null) return rows;
    for (const { rate_key: key, namespace, name, ref, run } of rows) {
      if (key === null) continue;
      this.#driver.run(INSERT_START, [key as string, now, ref as string, run as number]);
      // The line is due when the starts no longer count, so that they are deleted.
      const line = [LineKind.starts, key as string, namespace as string, name as string];
      this.#driver.run(JOIN_LINE, [...line, now + rate.periodMs]);
    }
    return rows;
  }

  #lease(rows: readonly Row[], { lock, leaseMs }: AdmitRequest, now: number): void {
    if (rows.length === 0) return;
    this.#driver.run(CLAIM_INSTANCES, [lock, now + leaseMs, now, JSON.stringify(rows.map(({ ref }) => ref))]);
  }
}

function versionsIn({ namespace, name }: Line, { versionsOf }: AdmitRequest): string {
  return JSON.stringify(versionsOf(namespace, name));
}

function earliest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
