import {
  HOOK_KEYS,
  type HookAdmitRequest,
  type HookLinePlace,
  type HookLineQuestion,
  MOST_HOOK_KEYS,
  placesBefore,
  usedUpStart,
} from "../hooks/hook-lines.ts";
import type { ClaimedHook } from "../hooks/hook-records.ts";
import { toClaimedHook, toLinePlace } from "../hooks/hook-rows.ts";
import { MOST_AHEAD } from "../instances/instance-records.ts";
import type { LineLimits } from "../lines/line-records.ts";
import { MOST_PASSES } from "../lines/look-at-line.ts";
import { WorkClass } from "../queue/work-class.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import {
  COUNT_HELD_HOOKS,
  COUNT_HOOKS_AHEAD,
  FIND_HOOKS_IN_LINE,
  FORGET_HOOK_STARTS,
  NEXT_HOOK_KEY,
} from "./sql/hook-lines.ts";
import { CLAIM_HOOKS } from "./sql/hooks-run.ts";
import { COUNT_STARTS, FIND_START, FORGET_STARTS, INSERT_START } from "./sql/lines.ts";

type Row = Record<string, unknown>;

const MOST_FORGOTTEN = 1000;

/** Admits hooks from their lines, as their limits allow. Inside of one transaction, so no other process admits meanwhile. */
export class SqliteHookAdmission {
  readonly #access: SqliteAccess;

  constructor(access: SqliteAccess) {
    this.#access = access;
  }

  async admit(request: HookAdmitRequest): Promise<ClaimedHook[]> {
    if (request.room <= 0) return [];
    // Looking first keeps idle workers from taking the write lock.
    const first = await this.#access.read(() => this.#nextKey(request.namespace, ""));
    return first === null ? [] : this.#access.write(() => this.#admitDue(request, this.#access.now()));
  }

  /** Returns how many. */
  async forgetStarts(keptMs: number): Promise<number> {
    const parameters = [HOOK_KEYS.from, HOOK_KEYS.to, this.#access.now() - keptMs, MOST_FORGOTTEN];
    return this.#access.write(() => this.#access.driver.run(FORGET_HOOK_STARTS, parameters));
  }

  async placeInLine(question: HookLineQuestion): Promise<HookLinePlace> {
    return this.#access.readSnapshot(() => {
      const { driver } = this.#access;
      const { namespace, lineKey } = question;
      const ahead = placesBefore(question).map((place) => {
        const parameters = [namespace, lineKey, place.class, place.availableAt, place.id, MOST_AHEAD];
        return Number(driver.all(COUNT_HOOKS_AHEAD, parameters)[0]?.ahead);
      });
      const held = Math.min(Number(driver.all(COUNT_HELD_HOOKS, [namespace, lineKey])[0]?.held), MOST_AHEAD);
      const [start] = driver.all(FIND_START, usedUpStart(question));
      return toLinePlace({ ahead: ahead.reduce((sum, count) => sum + count, 0), held, started_at: start?.at });
    });
  }

  #admitDue(request: HookAdmitRequest, now: number): ClaimedHook[] {
    const keys = this.#keysFrom(request);
    const share = Math.max(Math.floor(request.room / Math.max(keys.length, 1)), 1);
    const admitted: ClaimedHook[] = [];
    for (const key of keys) {
      const room = Math.min(share, request.room - admitted.length);
      if (room <= 0) break;
      admitted.push(...this.#admitFrom(key, { ...request, room }, now));
    }
    return admitted;
  }

  /** The keys after the one that was served last, then the others. */
  #keysFrom({ namespace, after }: HookAdmitRequest): string[] {
    const keys: string[] = [];
    for (let key = this.#nextKey(namespace, after); key !== null; key = this.#nextKey(namespace, key)) {
      if (keys.push(key) === MOST_HOOK_KEYS) return keys;
    }
    if (after === "") return keys;
    for (let key = this.#nextKey(namespace, ""); key !== null && key <= after; key = this.#nextKey(namespace, key)) {
      if (keys.push(key) === MOST_HOOK_KEYS) return keys;
    }
    return keys;
  }

  #nextKey(namespace: string, after: string): string | null {
    const [row] = this.#access.driver.all(NEXT_HOOK_KEY, [namespace, after]);
    return row === undefined ? null : (row.line_key as string);
  }

  #admitFrom(key: string, request: HookAdmitRequest, now: number): ClaimedHook[] {
    const { driver } = this.#access;
    const { namespace, hooks, room } = request;
    const limitsOf = new Map(hooks.map(({ name, limits }) => [name, limits]));
    const names = JSON.stringify(hooks.map(({ name }) => name));
    let held = Number(driver.all(COUNT_HELD_HOOKS, [namespace, key])[0]?.held);
    const usedUp = new Set<string>();
    const admitted: ClaimedHook[] = [];
    for (const workClass of [WorkClass.lineContinuing, WorkClass.lineFresh]) {
      for (let pass = 0; pass < MOST_PASSES && admitted.length < room; pass++) {
        const parameters = [namespace, key, workClass, now, names, JSON.stringify([...usedUp]), room - admitted.length];
        const found = driver.all(FIND_HOOKS_IN_LINE, parameters);
        const before = admitted.length;
        for (const row of found) {
          const limits = limitsOf.get(row.name as string) as LineLimits;
          if (limits.slots !== null && held >= limits.slots) return admitted;
          if (!this.#takeStart(row, limits, usedUp, now)) continue;
          admitted.push(this.#lease(row, request, now));
          held++;
        }
        if (found.length === 0 || admitted.length - before === found.length) break; // no rate holds anything up
      }
    }
    return admitted;
  }

  /** Each attempt is a start. */
  #takeStart({ rate_key, id, attempts }: Row, { starts }: LineLimits, usedUp: Set<string>, now: number): boolean {
    if (rate_key === null || starts === null) return true;
    const { driver } = this.#access;
    const key = rate_key as string;
    if (usedUp.has(key)) return false;
    driver.run(FORGET_STARTS, [key, now - starts.periodMs]);
    if (Number(driver.all(COUNT_STARTS, [key])[0]?.starts) >= starts.limit) {
      usedUp.add(key);
      return false;
    }
    driver.run(INSERT_START, [key, now, id as string, Number(attempts)]);
    return true;
  }

  #lease(row: Row, { namespace, lock, leaseMs }: HookAdmitRequest, now: number): ClaimedHook {
    this.#access.driver.run(CLAIM_HOOKS, [lock, now + leaseMs, now, namespace, JSON.stringify([row.id])]);
    return toClaimedHook({ ...row, attempts: Number(row.attempts) + 1, lock, claimed_at: now });
  }
}
