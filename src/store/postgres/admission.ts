import { StoreError } from "../../errors.ts";
import type { ClaimedInstance } from "../instances/instance-records.ts";
import { toClaimedInstance } from "../instances/instance-rows.ts";
import { type AdmitRequest, type Line, LineKind, type LineLimits, type StartRate } from "../lines/line-records.ts";
import {
  type Candidate,
  chooseStarts,
  LINE_DEPTH,
  type LineState,
  LOCKED_DELAY_MS,
  MOST_LINES,
  MOST_PASSES,
  rateKeysOf,
  settleLine,
  shareOf,
} from "../lines/look-at-line.ts";
import type { QueueScope } from "../queue/claim-request.ts";
import { toNumber, toNumberOrNull } from "../rows.ts";
import { compareText } from "../text-order.ts";
import { integerArray, textArray } from "./array-literals.ts";
import type { PostgresClient } from "./driver.ts";
import { countStarts } from "./sql/count-starts.ts";
import { findLines } from "./sql/find-lines.ts";
import { findStarts } from "./sql/find-starts.ts";
import { leaseFromLine } from "./sql/lease-from-line.ts";
import { lockLines } from "./sql/lock-lines.ts";
import { ensureRates, lockRates } from "./sql/lock-rates.ts";
import { nextLine } from "./sql/next-line.ts";
import { openLines } from "./sql/open-lines.ts";
import { dropLine, settleLine as settleLineStatement } from "./sql/settle-line.ts";
import { startInstances } from "./sql/start-instances.ts";
import { PostgresStatements } from "./statements.ts";

type Row = Record<string, unknown>;

/** One look at one line, in the transaction that has locked it. */
interface Look {
  readonly client: PostgresClient;
  readonly line: Line;
  readonly limits: LineLimits;
  readonly request: AdmitRequest;
}

interface Started {
  readonly rows: Row[];
  /** When something can start that can't now. */
  readonly startsAt: number | null;
}

interface Rate {
  /** How many may start now. */
  readonly left: number;
  /** When the next may start, if none can. */
  readonly nextAt: number;
  /** When the last start doesn't count any more. */
  readonly forgetAt: number | null;
}

/**
 * Lets in from lines what their limits allow. A line is locked, and then looked at by further statements, which see all that was
 * committed before: so no two processes give away the same slot. Whoever frees a slot or joins the line meanwhile waits for the
 * lock, and has the line looked at once more.
 */
export class PostgresAdmission extends PostgresStatements {
  async admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    if (request.room <= 0 || request.scopes.length === 0) return [];
    const { rows: due } = await this.run(findLines, [this.now(), ...scopeColumns(request.scopes), MOST_LINES]);
    if (due.length === 0) return [];
    return this.connection.transaction((client) => this.#admitDue(client, due, request));
  }

  async nextAdmission(scopes: readonly QueueScope[]): Promise<number | null> {
    if (scopes.length === 0) return null;
    const { rows } = await this.run(nextLine, [this.now(), ...scopeColumns(scopes)]);
    return toNumberOrNull(rows[0]?.remaining ?? null);
  }

  async openLines(namespaces: readonly string[]): Promise<boolean> {
    const { rows } = await this.run(openLines, [this.now(), namespaces]);
    return rows[0]?.there === true;
  }

  async #admitDue(client: PostgresClient, due: readonly Row[], request: AdmitRequest): Promise<ClaimedInstance[]> {
    const kinds = integerArray(due.map(({ kind }) => toNumber(kind)));
    const keys = textArray(due.map(({ key }) => key as string));
    const { rows: lines } = await this.run(lockLines, [this.now(), kinds, keys], client);
    const share = shareOf(request.room, lines.length);
    const admitted: ClaimedInstance[] = [];
    for (const row of lines) {
      const room = Math.min(share, request.room - admitted.length);
      if (room <= 0) break;
      const line = row as unknown as Line;
      const limits = request.limitsOf(line.namespace, line.name);
      const look: Look = { client, line, limits, request: { ...request, room } };
      const rows = await (line.kind === LineKind.slots ? this.#admitToSlots(look) : this.#admitToStarts(look));
      admitted.push(...rows.sort(inLineOrder).map(toClaimedInstance));
    }
    return admitted;
  }

  async #admitToSlots(look: Look): Promise<Row[]> {
    const { client, line, request } = look;
    const { slots, starts } = look.limits;
    const { lock, leaseMs, room } = request;
    const values = [this.now(), line.key, slots, room, starts === null, lock, leaseMs];
    const { rows: answer } = await this.run(leaseFromLine, values, client);
    const held = toNumber(answer[0]?.held);
    const now = toNumber(answer[0]?.now);
    const rows = answer.filter(({ ref }) => ref !== null);
    const free = slots === null ? Number.POSITIVE_INFINITY : Math.max(slots - held, 0);
    const left = Math.min(free, room) - rows.length;
    const started = starts === null || left === 0 ? null : await this.#start(look, starts, left);
    rows.push(...(started?.rows ?? []));
    const startsAt = started?.startsAt ?? null;
    const state = settleLine({ full: free <= rows.length, more: rows.length === room, startsAt }, false, now);
    const availableAt = await this.#settle(look, state);
    if (held + rows.length === 0 && availableAt === null) await this.#drop(look);
    return rows;
  }

  async #admitToStarts(look: Look): Promise<Row[]> {
    const { line, limits, request } = look;
    const { rows, startsAt } = await this.#start(look, limits.starts, request.room);
    const rate = await this.#readRate(look, line.key, limits.starts ?? { limit: 1, periodMs: 0 });
    const full = { full: false, more: rows.length === request.room, startsAt };
    const state = settleLine(full, true, rate.now);
    const until = state.until ?? rate.forgetAt;
    await this.#settle(look, { ...state, until });
    if (until === null) await this.#drop(look);
    return rows;
  }

  async #settle({ client, line }: Look, { blocked, until, wakes }: LineState): Promise<number | null> {
    const values = [this.now(), line.kind, line.key, blocked, until, wakes ? LOCKED_DELAY_MS : null];
    const { rows } = await this.run(settleLineStatement, values, client);
    return toNumberOrNull(rows[0]?.available_at ?? null);
  }

  async #drop({ client, line }: Look): Promise<void> {
    await this.run(dropLine, [line.kind, line.key], client);
  }

  /** Starts what may start, in the order of the line, past those whose rates are used up. */
  async #start(look: Look, rate: StartRate | null, room: number): Promise<Started> {
    const rows: Row[] = [];
    const usedUp = new Set<string>();
    let startsAt: number | null = null;
    for (let pass = 0; pass < MOST_PASSES && rows.length < room; pass++) {
      const wanted = room - rows.length;
      const candidates = await this.#findStarts(look, usedUp, wanted);
      const rates = await this.#readRates(look, rateKeysOf(candidates), rate);
      const left = new Map(Array.from(rates, ([key, one]) => [key, one.left]));
      const chosen = chooseStarts(candidates, left);
      rows.push(...(await this.#startChosen(look, chosen, rate)));
      if (candidates.length < wanted && chosen.length === candidates.length) break; // nothing of these is held up
      for (const [key, starts] of left) {
        if (starts > 0) continue;
        usedUp.add(key);
        const { nextAt } = await this.#readRate(look, key, rate as StartRate);
        startsAt = startsAt === null ? nextAt : Math.min(startsAt, nextAt);
      }
    }
    return { rows, startsAt };
  }

  async #findStarts({ client, line }: Look, usedUp: ReadonlySet<string>, wanted: number): Promise<Candidate[]> {
    const values = [line.key, LINE_DEPTH, [...usedUp], wanted];
    const { rows } = await this.connection.run(findStarts(this.schema, line.kind), values, client);
    return rows.map((row) => ({ ref: row.ref as string, rateKey: row.rate_key as string | null }));
  }

  /** Locks rates and counts what is left of them. Of what somebody else has locked, nothing is. */
  async #readRates(look: Look, keys: readonly string[], rate: StartRate | null): Promise<Map<string, Rate>> {
    const { client, line } = look;
    const rates = new Map<string, Rate>();
    if (keys.length === 0) return rates;
    if (rate === null) {
      for (const key of keys) rates.set(key, { left: Number.POSITIVE_INFINITY, nextAt: 0, forgetAt: null });
      return rates;
    }
    const locked = line.kind === LineKind.starts ? keys : await this.#lockRates(look, keys);
    for (const key of keys) rates.set(key, { left: 0, nextAt: 0, forgetAt: null });
    if (locked.length === 0) return rates;
    const values = [this.now(), locked, rate.periodMs, rate.limit];
    const { rows } = await this.run(countStarts, values, client);
    for (const row of rows) rates.set(row.key as string, toRate(row, rate));
    return rates;
  }

  async #lockRates({ client, line }: Look, keys: readonly string[]): Promise<string[]> {
    await this.run(ensureRates, [keys, line.namespace, line.name], client);
    const { rows } = await this.run(lockRates, [keys], client);
    return rows.map((row) => row.key as string);
  }

  async #readRate({ client }: Look, key: string, rate: StartRate): Promise<Rate & { now: number }> {
    const { rows } = await this.run(countStarts, [this.now(), [key], rate.periodMs, rate.limit], client);
    const [row] = rows;
    if (row === undefined) throw new StoreError("store.unavailable", "A rate could not be read.", { transient: true });
    return { ...toRate(row, rate), now: toNumber(row.now) };
  }

  async #startChosen({ client, request }: Look, refs: readonly string[], rate: StartRate | null): Promise<Row[]> {
    if (refs.length === 0) return [];
    const { lock, leaseMs } = request;
    const values = [this.now(), textArray(refs), lock, leaseMs, rate?.periodMs ?? null];
    return (await this.run(startInstances, values, client)).rows;
  }
}

/** What has begun comes first; what is new has places before all times. Rows that an update returns come in any order. */
function inLineOrder(left: Row, right: Row): number {
  const [first, second] = [toNumber(left.due_at), toNumber(right.due_at)];
  const fresh = Number(first < 0) - Number(second < 0);
  return fresh || first - second || compareText(left.ref as string, right.ref as string);
}

function toRate(row: Row, { limit, periodMs }: StartRate): Rate {
  const latest = toNumberOrNull(row.latest);
  const decisive = toNumberOrNull(row.decisive);
  return {
    left: limit - toNumber(row.starts),
    nextAt: decisive === null ? toNumber(row.now) : Math.max(decisive + periodMs, toNumber(row.now)),
    forgetAt: latest === null ? null : latest + periodMs,
  };
}

/** The driver gives nested arrays to PostgreSQL as such, which must all be of one length; ours aren't. */
function scopeColumns(scopes: readonly QueueScope[]): unknown[] {
  return [scopes.map(({ namespace }) => namespace), scopes.map(({ names }) => textArray(names))];
}
