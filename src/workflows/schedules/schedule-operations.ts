import { NotFoundError } from "../../errors.ts";
import { checkId } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import type { ScheduleRecord, ScheduleTiming } from "../../store/schedules/schedule-records.ts";
import { isRegistered, type RegisteredWorkflow } from "../define/registered-workflows.ts";
import { toTrait } from "../define/workflow-event.ts";
import { type InstanceOrigin, prepareInstance } from "../instances/create/create.ts";
import type { WorkflowInstance } from "../instances/instance.ts";
import { InstanceHandle } from "../instances/instance-handle.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { CronTimes } from "./cron-times.ts";

/** A stored schedule, for operators. */
export interface ScheduleSummary {
  readonly workflowName: string;
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly paused: boolean;
  /** When it fires next; null while it is paused. */
  readonly nextAt: Date | null;
  /** The last time for which it fired. */
  readonly lastAt: Date | null;
  /** Whether the code of this process defines it. If not, other processes fire it, or none does. */
  readonly inCode: boolean;
}

/** Selects schedules: the workflow's key or name, and optionally the name of one schedule. */
export interface ScheduleSelection {
  readonly workflow: string;
  readonly name?: string;
}

/** Lists, pauses, resumes and runs schedules: for operators, scripts and dashboards. */
export class WorkflowSchedules {
  readonly #runtime: WorkflowRuntime;

  /** @internal */
  constructor(runtime: WorkflowRuntime) {
    this.#runtime = runtime;
  }

  /** Lists all stored schedules. A schedule is stored when a process that runs workflows starts with it in its code. */
  async list(): Promise<ScheduleSummary[]> {
    const { schedules } = await this.#statements.list([this.#runtime.namespace]);
    return schedules.map((schedule) => this.#toSummary(schedule));
  }

  /**
   * Stops schedules from firing until they are resumed. Times that pass meanwhile are not made up for.
   *
   * @example
   * await app.schedules.pause({ workflow: "report", name: "daily" });
   */
  async pause(selection: ScheduleSelection): Promise<void> {
    const { workflow, name } = check(this.#runtime, selection, "pause");
    this.#runtime.store.engine.refuseNesting();
    const paused = await this.#statements.pause({ ...this.#scope(workflow), name });
    if (paused === 0) throw this.#notFound(workflow, name);
    this.#runtime.schedulesChanged();
  }

  /** Resumes firing, with the next time from now. */
  async resume(selection: ScheduleSelection): Promise<void> {
    const { workflow, name } = check(this.#runtime, selection, "resume");
    this.#runtime.store.engine.refuseNesting();
    const { at, schedules } = await this.#statements.list([this.#runtime.namespace]);
    const selected = schedules.filter(
      (schedule) => schedule.workflow === workflow.name && (name === null || schedule.name === name),
    );
    if (selected.length === 0) throw this.#notFound(workflow, name);
    const paused = selected.filter((schedule) => schedule.paused);
    await this.#statements.resume(paused.map((schedule) => toTiming(schedule, at)));
    this.#runtime.schedulesChanged();
  }

  /**
   * Creates an instance now, as the schedule would; its regular times don't change. The code of this process must define the
   * schedule. `name` is optional if the workflow has only one.
   */
  async runNow(selection: ScheduleSelection): Promise<WorkflowInstance> {
    return runScheduleNow(this.#runtime, selection);
  }

  get #statements() {
    return this.#runtime.store.engine.schedules;
  }

  /** A name that neither code nor a stored schedule has is most likely a wrong one. */
  #notFound(workflow: RegisteredWorkflow, name: string | null): NotFoundError {
    if (!isRegistered(workflow)) this.#runtime.workflows.get(workflow.name);
    return notFound(workflow.name, name);
  }

  #scope({ name }: RegisteredWorkflow) {
    return { namespace: this.#runtime.namespace, workflow: name };
  }

  #toSummary({ workflow, name, cron, timezone, paused, dueAt, lastAt }: ScheduleRecord): ScheduleSummary {
    const inCode = this.#runtime.workflows
      .find(workflow)
      ?.schedules.some(
        (known) => known.name === name && known.times.cron === cron && known.times.timezone === timezone,
      );
    const toDate = (time: number | null) => (time === null ? null : new Date(time));
    const times = { nextAt: toDate(dueAt), lastAt: toDate(lastAt) };
    return { workflowName: workflow, name, cron, timezone, paused, ...times, inCode: inCode ?? false };
  }
}

/** `runNow`. A request that its sender may repeat gives an origin, by which the instance is recognised. */
export async function runScheduleNow(
  runtime: WorkflowRuntime,
  selection: ScheduleSelection,
  origin?: InstanceOrigin,
): Promise<WorkflowInstance> {
  const { workflow, name } = check(runtime, selection, "runNow");
  if (!isRegistered(workflow)) runtime.workflows.get(workflow.name); // it creates instances, which needs the code
  const known = workflow.schedules.filter((schedule) => name === null || schedule.name === name);
  const [schedule] = known;
  if (schedule === undefined || known.length > 1) throw notOne(workflow, name);
  const { at } = await runtime.store.engine.schedules.list([]);
  const { insert } = await prepareInstance(runtime, workflow, { params: schedule.params }, origin);
  const id = `${schedule.name}:${insert.ref}`;
  const traits = toTrait(insert.traits, { cron: schedule.times.cron, scheduledTime: at });
  await runtime.create([{ ...insert, id, traits }]);
  return new InstanceHandle(runtime, workflow, id, { createdRef: insert.ref });
}

function check(
  runtime: WorkflowRuntime,
  selection: ScheduleSelection,
  label: string,
): { workflow: RegisteredWorkflow; name: string | null } {
  checkOptions(selection, { label, fields: ["workflow", "name"] });
  const { workflows } = runtime;
  const { workflow: given } = selection;
  const stored = typeof given === "string" ? (workflows.findText(given) ?? workflows.stored(given)) : undefined;
  const workflow = stored ?? workflows.get(given);
  return { workflow, name: selection.name === undefined ? null : checkId(selection.name, "The name of a schedule") };
}

/** Stored times may come from other code, but they were checked before they were stored. */
function toTiming(schedule: ScheduleRecord, at: number): ScheduleTiming {
  return { ...schedule, dueAt: new CronTimes(schedule.cron, schedule.timezone).nextAfter(at) };
}

function notFound(workflow: string, name: string | null): NotFoundError {
  const wanted = name === null ? "no schedules" : `no schedule "${name}"`;
  return new NotFoundError("schedule.not_found", `The workflow "${workflow}" has ${wanted}.`);
}

function notOne({ name, schedules }: RegisteredWorkflow, wanted: string | null): NotFoundError {
  const known = schedules.map((schedule) => schedule.name).join(", ");
  const problem = wanted === null && schedules.length > 1 ? "several schedules; name one" : "no such schedule";
  return new NotFoundError(
    "schedule.not_found",
    `The workflow "${name}" has ${problem}. In this code it has ${known || "none"}.`,
  );
}
