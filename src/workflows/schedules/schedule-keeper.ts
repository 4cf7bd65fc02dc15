import type { KnownSchedules, ScheduleKey, ScheduleRecord } from "../../store/schedules/schedule-records.ts";
import { loggedError } from "../../values/index.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import { toTrait } from "../define/workflow-event.ts";
import { prepareInstance } from "../instances/create/create.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { scheduledId, type WorkflowSchedule } from "./schedule-option.ts";

/** A schedule that the code of this process defines. */
interface CodeSchedule {
  readonly key: ScheduleKey;
  readonly workflow: RegisteredWorkflow;
  readonly schedule: WorkflowSchedule;
}

function codeSchedules({ namespace, workflows }: WorkflowRuntime): CodeSchedule[] {
  return workflows.all.flatMap((workflow) =>
    workflow.schedules.map((schedule) => {
      const { cron, timezone } = schedule.times;
      return { key: { namespace, workflow: workflow.name, name: schedule.name, cron, timezone }, workflow, schedule };
    }),
  );
}

function sameSchedule(left: ScheduleKey, right: ScheduleKey): boolean {
  const fields = ["namespace", "workflow", "name", "cron", "timezone"] as const;
  return fields.every((field) => left[field] === right[field]);
}

/** A schedule that no process has confirmed for this long is no longer in any code. */
const RETIRED_AFTER_MS = 86_400_000;
/** A confirmation is good for this long; within it, processes don't confirm again. */
const CONFIRMED_FOR_MS = 600_000;

/**
 * Stores schedules that are new in the code, beginning with their next time. A schedule that vanished from the code of a
 * workflow is deleted after a day without confirmation: until then another process may still run code that has it. While no
 * process has it, it doesn't fire.
 */
async function registerSchedules(
  { store, namespace, workflows }: WorkflowRuntime,
  code: readonly CodeSchedule[],
  { retires }: { retires: boolean },
): Promise<void> {
  const statements = store.engine.schedules;
  const { at, schedules } = await statements.list([namespace]);
  const isStored = ({ key }: CodeSchedule) => schedules.some((stored) => sameSchedule(stored, key));
  const missing = code.filter((one) => !isStored(one));
  await statements.insert(missing.map(({ key, schedule }) => ({ ...key, dueAt: schedule.times.nextAfter(at) })));
  const ours = schedules.filter((stored) => code.some(({ key }) => sameSchedule(key, stored)));
  await statements.confirm(ours.filter(({ confirmedAt }) => confirmedAt < at - CONFIRMED_FOR_MS));
  if (!retires) return;
  const vanished = schedules.filter(
    (stored) => !ours.includes(stored) && workflows.find(stored.workflow) !== undefined,
  );
  const old = vanished.filter(({ confirmedAt }) => confirmedAt < at - RETIRED_AFTER_MS);
  await statements.retire(old, at - RETIRED_AFTER_MS);
}

/** How often the code's schedules are compared with the stored ones. */
const REGISTER_MS = 3_600_000;
/** How often to look in any case: another process may have resumed a schedule, and its notice may be lost. */
const LOOK_MS = 30_000;
/** After a look, notices of other processes are ignored for this long. */
const GATHER_MS = 1000;

/**
 * Fires the schedules of one namespace that the code of this process defines. A schedule has no owner: all processes look, and
 * the process that moves the schedule to its next time has fired it, in the transaction that creates the instance. Of times
 * that were missed because no process ran, only the last one is fired.
 */
export class ScheduleKeeper {
  readonly #runtime: WorkflowRuntime;
  readonly #code: readonly CodeSchedule[];
  /** By the monotonic clock. */
  #registerAt = 0;
  #registered = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When the earliest schedule is due; infinite if there is none. */
  #dueAt = Number.POSITIVE_INFINITY;
  #changes = -1;

  constructor(runtime: WorkflowRuntime) {
    this.#runtime = runtime;
    this.#code = codeSchedules(runtime);
  }

  /** Stores the schedules of the code, if there are any, so that operators see them. */
  async prepare(): Promise<void> {
    if (this.#code.length > 0 && !this.#registered) await this.#register();
  }

  /** Fires the schedules that are due. Returns the milliseconds until the next call; null if none is needed. */
  async tend(): Promise<number | null> {
    const { clock } = this.#runtime.store;
    if (clock.monotonic() >= this.#registerAt) await this.#register();
    if (this.#code.length === 0) return this.#registerAt - clock.monotonic();
    if (this.#mustLook()) await this.#fireDue();
    return Math.min(this.#dueAt, this.#lookedAt + LOOK_MS, this.#registerAt) - clock.monotonic();
  }

  /** Milliseconds until the next schedule is due; null while they aren't stored yet. */
  async nextWake(): Promise<number | null> {
    if (this.#code.length === 0) return null;
    if (!this.#registered) return 0;
    if (this.#mustLook()) await this.#look();
    return this.#dueAt === Number.POSITIVE_INFINITY ? null : this.#dueAt - this.#runtime.store.clock.monotonic();
  }

  /** Another process has announced a change. */
  heard(): void {
    const { clock } = this.#runtime.store;
    if (clock.monotonic() > this.#lookedAt + GATHER_MS) this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  #mustLook(): boolean {
    const now = this.#runtime.store.clock.monotonic();
    return now >= this.#dueAt || now >= this.#lookedAt + LOOK_MS || this.#changes !== this.#runtime.scheduleChanges;
  }

  async #register(): Promise<void> {
    await registerSchedules(this.#runtime, this.#code, { retires: this.#registered });
    this.#registered = true;
    this.#registerAt = this.#runtime.store.clock.monotonic() + REGISTER_MS;
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  async #look(): Promise<KnownSchedules> {
    const { store, namespace, scheduleChanges } = this.#runtime;
    const lookedAt = store.clock.monotonic();
    const known = await store.engine.schedules.list([namespace]);
    this.#lookedAt = lookedAt;
    this.#changes = scheduleChanges;
    const due = known.schedules.filter((schedule) => schedule.dueAt !== null && this.#find(schedule) !== undefined);
    this.#dueAt =
      lookedAt + Math.min(...due.map(({ dueAt }) => (dueAt as number) - known.at), Number.POSITIVE_INFINITY);
    return known;
  }

  async #fireDue(): Promise<void> {
    const { at, schedules } = await this.#look();
    let fired = false;
    for (const schedule of schedules) {
      const code = this.#find(schedule);
      if (code === undefined || schedule.dueAt === null || schedule.dueAt > at) continue;
      fired = (await this.#fire(schedule, code, at)) || fired;
    }
    if (this.#dueAt <= this.#lookedAt) await this.#look();
    if (fired) this.#runtime.store.work.post({ namespace: this.#runtime.namespace, delayMs: 0 });
  }

  async #fire(schedule: ScheduleRecord, { workflow, schedule: code }: CodeSchedule, at: number): Promise<boolean> {
    const { store } = this.#runtime;
    const dueAt = schedule.dueAt as number;
    const lastAt = Math.max(code.times.lastUpTo(at) ?? dueAt, dueAt);
    const instance = await this.#prepare(workflow, code, lastAt);
    const nextAt = code.times.nextAfter(at);
    const fired = await store.engine.schedules.fire({ ...schedule, dueAt, lastAt, nextAt, instance });
    if (fired) this.#runtime.timeouts.note(instance?.traits.timeout ?? null);
    return fired;
  }

  /** Null if its params are invalid: then this time is skipped. */
  async #prepare(workflow: RegisteredWorkflow, code: CodeSchedule["schedule"], time: number) {
    const { store } = this.#runtime;
    const { name, params, times } = code;
    try {
      const options = { id: scheduledId(code, time), params };
      const { insert } = await prepareInstance(this.#runtime, workflow, options);
      return { ...insert, traits: toTrait(insert.traits, { cron: times.cron, scheduledTime: time }) };
    } catch (error) {
      const details = { workflow: workflow.name, schedule: name, error: loggedError(error, store.stackTraces) };
      store.logger.error("A schedule skipped one of its times: its workflow doesn't accept its params.", details);
      return null;
    }
  }

  #find(stored: ScheduleRecord): CodeSchedule | undefined {
    return this.#code.find(({ key }) => sameSchedule(key, stored));
  }
}
