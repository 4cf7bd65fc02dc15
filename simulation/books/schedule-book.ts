import type {
  ScheduleFiring,
  ScheduleKey,
  ScheduleScope,
  ScheduleTiming,
} from "../../src/store/schedules/schedule-records.ts";
import { CronTimes } from "../../src/workflows/schedules/cron-times.ts";
import type { World } from "../world.ts";
import type { InstanceBook } from "./instance-book.ts";

/** What the database must have of one schedule, according to its answers to callers. */
export interface ScheduleAccount extends ScheduleKey {
  dueAt: number | null;
  lastAt: number | null;
  paused: boolean;
  /** Since when it has fired without a pause. */
  since: number;
  readonly times: CronTimes;
  /** The times for which it has created instances. */
  readonly created: Set<number>;
}

type Read = (text: string) => Record<string, unknown>[];

const SCHEDULES = "select workflow, name, cron, timezone, due_at, last_at, paused from perdure_schedule";

/** The ledger of schedules: one instance for each of their times, when it has come, and none for others. */
export class ScheduleBook {
  readonly accounts: Map<string, ScheduleAccount> = new Map();
  /** How many scheduled times have fired. */
  fired = 0;
  readonly #world: World;
  readonly #instances: InstanceBook;

  constructor(world: World, instances: InstanceBook) {
    this.#world = world;
    this.#instances = instances;
  }

  inserted(schedules: readonly ScheduleTiming[]): void {
    const { now } = this.#world;
    for (const { namespace, workflow, name, cron, timezone, dueAt } of schedules) {
      const key = { namespace, workflow, name, cron, timezone };
      if (this.accounts.has(labelOf(key))) continue;
      const paused = [...this.accounts.values()].some(
        (other) => other.paused && other.workflow === workflow && other.name === name,
      );
      const times = new CronTimes(cron, timezone);
      const due = paused ? null : dueAt;
      const account = { ...key, dueAt: due, lastAt: null, paused, since: now, times, created: new Set<number>() };
      this.accounts.set(labelOf(key), account);
    }
  }

  retired(count: number): void {
    if (count > 0) this.#violate("schedules stay while a process may have them", `${count} were deleted`);
  }

  moved(firing: ScheduleFiring, fired: boolean): void {
    const label = labelOf(firing);
    const account = this.accounts.get(label);
    const { now } = this.#world;
    const due = account !== undefined && account.dueAt === firing.dueAt && account.dueAt <= now;
    if (fired !== due) {
      const state = `${account?.paused === true ? "paused, " : ""}due at ${account?.dueAt}, not ${firing.dueAt}`;
      this.#violate("a schedule is fired when it is due", `${label}: ${fired ? "done" : "refused"}; ${state}`);
    }
    if (!fired || account === undefined) return;
    this.fired++;
    this.#checkTimes(account, firing);
    account.dueAt = firing.nextAt;
    account.lastAt = firing.lastAt;
    this.#created(account, firing);
  }

  paused({ workflow, name }: ScheduleScope, count: number): void {
    const selected = [...this.accounts.values()].filter(
      (account) => account.workflow === workflow && (name === null || account.name === name),
    );
    if (selected.length !== count) {
      this.#violate("pauses are kept", `${count} of ${selected.length} schedules of ${workflow} were paused`);
    }
    for (const account of selected) {
      account.paused = true;
      account.dueAt = null;
    }
  }

  resumed(schedules: readonly ScheduleTiming[]): void {
    for (const schedule of schedules) {
      const account = this.accounts.get(labelOf(schedule));
      if (account?.paused !== true) continue;
      account.paused = false;
      account.dueAt = schedule.dueAt;
      account.since = this.#world.now;
    }
  }

  /** Rows and accounts must be the same schedules in the same states. */
  compare(read: Read): void {
    if (this.accounts.size === 0) return;
    const rows = new Map(read(SCHEDULES).map((row) => [labelOf(row as unknown as ScheduleKey), row]));
    for (const [label, { dueAt, lastAt, paused }] of this.accounts) {
      const row = rows.get(label);
      rows.delete(label);
      if (row?.due_at === dueAt && row.last_at === lastAt && Boolean(row.paused) === paused) continue;
      const expected = JSON.stringify({ dueAt, lastAt, paused });
      this.#violate("schedules are as they were left", `${label}: ${expected}, now ${JSON.stringify(row)}`);
    }
    for (const label of rows.keys()) this.#violate("nothing appears by itself", `the schedule ${label}`);
  }

  /** The latest scheduled time has fired, and none before the next one is left out. */
  #checkTimes({ times }: ScheduleAccount, firing: ScheduleFiring): void {
    const { dueAt, lastAt, nextAt } = firing;
    const label = `${labelOf(firing)}, due at ${dueAt}: fired for ${lastAt}, then ${nextAt}`;
    if (lastAt > this.#world.now || lastAt < dueAt || times.lastUpTo(lastAt) !== lastAt) {
      this.#violate("a schedule is fired for its own times", label);
    }
    if (nextAt !== times.nextAfter(lastAt)) this.#violate("no time of a schedule is left out", label);
  }

  #created(account: ScheduleAccount, { instance, lastAt, cron }: ScheduleFiring): void {
    const label = `${labelOf(account)} at ${lastAt}`;
    if (instance === null) return this.#violate("no time of a schedule is left out", label);
    if (instance.traits?.schedule !== JSON.stringify({ cron, scheduledTime: lastAt })) {
      this.#violate("instances know their schedule", `${label}: ${instance.traits?.schedule}`);
    }
    if (this.#instances.find(instance) !== undefined) return; // another process has created it for this time
    if (account.created.has(lastAt)) this.#violate("one instance for each time of a schedule", label);
    account.created.add(lastAt);
    this.#instances.inserted([instance], [{ result: "created", ref: instance.ref, at: this.#world.now }]);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

function labelOf({ workflow, name, cron, timezone }: Omit<ScheduleKey, "namespace">): string {
  return `${workflow} ${name} (${cron} ${timezone})`;
}
