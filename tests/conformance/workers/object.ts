import { createObjectRouter, type ObjectNamespace, PerdureObject } from "../../../src/durable-object/index.ts";
import { NonRetryableError } from "../../../src/errors.ts";
import { WorkflowEntrypoint } from "../../../src/workflows/entrypoint.ts";
import type { WorkflowStep } from "../../../src/workflows/step.ts";
import type { WorkflowEvent } from "../../../src/workflows/workflow-event.ts";
import { type Begin, PROGRAMS, type ProgramStep } from "../programs.ts";
import { stepResults } from "../step-results.ts";

/** Runs a program on our engine, in a Durable Object. */
class ProgramWorkflow extends WorkflowEntrypoint<unknown, Begin["payload"]> {
  override async run(event: Readonly<WorkflowEvent<Begin["payload"]>>, step: WorkflowStep): Promise<unknown> {
    const program = PROGRAMS.find(({ name }) => name === event.payload.program);
    return program?.run(step as unknown as ProgramStep, event, { NonRetryableError });
  }
}

const workflows = { programs: ProgramWorkflow };

export class Programs extends PerdureObject.of({ workflows }) {}

export default {
  async fetch(request: Request, env: { readonly OBJECTS: ObjectNamespace }): Promise<Response> {
    const { programs } = createObjectRouter({ objects: env.OBJECTS, workflows, shards: 2 }).workflows;
    const { create, id, event } = (await request.json()) as { create?: object; id?: string; event?: object };
    if (create !== undefined) return Response.json({ id: (await programs.create(create as never)).id });
    const instance = await programs.get(id as string);
    if (event !== undefined) await instance.sendEvent(event as never);
    const status = await instance.status();
    const shown = (_key: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
    return new Response(JSON.stringify({ ...status, steps: await stepResults(instance) }, shown));
  },
};
