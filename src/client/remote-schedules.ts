import { NotFoundError } from "../errors.ts";
import { checkId } from "../names.ts";
import { checkOptions } from "../options.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type {
  ScheduleSelection,
  ScheduleSummary,
  WorkflowSchedules,
} from "../workflows/schedules/schedule-operations.ts";
import type { Connection } from "./connection.ts";
import { offerInstance } from "./remote-instance.ts";
import { fromWireSchedule, type WireSchedule } from "./wire.ts";
import type { WorkflowNames } from "./workflow-names.ts";

/** What a client can do with schedules: as in process. */
export type ClientSchedules = Pick<WorkflowSchedules, "list" | "pause" | "resume" | "runNow">;

/** The schedules of workflows on a server. */
export class RemoteSchedules implements ClientSchedules {
  readonly #connection: Connection;
  readonly #names: WorkflowNames;

  constructor(connection: Connection, names: WorkflowNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async list(): Promise<ScheduleSummary[]> {
    const { body } = await this.#connection.send({ method: "GET", path: ["schedules"] });
    return (body as { readonly schedules: readonly WireSchedule[] }).schedules.map(fromWireSchedule);
  }

  pause(selection: ScheduleSelection): Promise<void> {
    return this.#switch("pause", selection);
  }

  resume(selection: ScheduleSelection): Promise<void> {
    return this.#switch("resume", selection);
  }

  async runNow(selection: ScheduleSelection): Promise<WorkflowInstance> {
    const { workflow, names } = await this.#select(selection, "runNow");
    const [name] = names;
    if (name === undefined || names.length > 1) {
      throw new NotFoundError(
        "schedule.not_found",
        `The workflow "${workflow}" has ${names.length} schedules; name one.`,
      );
    }
    const { body } = await this.#connection.send({ method: "POST", path: ["schedules", workflow, name, "run"] });
    return offerInstance(this.#connection.lasting, workflow, (body as { readonly id: string }).id);
  }

  async #switch(action: "pause" | "resume", selection: ScheduleSelection): Promise<void> {
    const { workflow, names } = await this.#select(selection, action);
    if (names.length === 0) {
      throw new NotFoundError("schedule.not_found", `The workflow "${workflow}" has no schedules.`);
    }
    for (const name of names) {
      await this.#connection.send({ method: "POST", path: ["schedules", workflow, name, action] });
    }
  }

  /**
   * All schedules of a workflow if none is named. Several can have one name, with different times: those are switched together.
   */
  async #select(selection: ScheduleSelection, label: string): Promise<{ workflow: string; names: readonly string[] }> {
    checkOptions(selection, { label, fields: ["workflow", "name"] });
    const workflow = await this.#names.findStored(selection.workflow);
    if (selection.name !== undefined) {
      return { workflow, names: [checkId(selection.name, "The name of a schedule")] };
    }
    const known = (await this.list()).filter(({ workflowName }) => workflowName === workflow);
    return { workflow, names: [...new Set(known.map(({ name }) => name))] };
  }
}
