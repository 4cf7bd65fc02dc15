import { createObjectRouter, type ObjectNamespace, PerdureObject } from "../../../src/durable-object/index.ts";
import { NonRetryableError } from "../../../src/errors.ts";
import { WorkflowEntrypoint } from "../../../src/workflows/define/entrypoint.ts";
import type { WorkflowStep } from "../../../src/workflows/define/step.ts";
import type { WorkflowEvent } from "../../../src/workflows/define/workflow-event.ts";
import { type AnyBinding, answer, type Call, type StepResults } from "../answer.ts";
import type { Begin, ProgramStep } from "../program.ts";
import { programOf } from "../programs/index.ts";
import { stepResults } from "../step-results.ts";
import { worldOf } from "../world.ts";

/** Runs a program on our engine, in a Durable Object. */
class ProgramWorkflow extends WorkflowEntrypoint<unknown, Begin["payload"]> {
  override async run(event: Readonly<WorkflowEvent<Begin["payload"]>>, step: WorkflowStep): Promise<unknown> {
    const world = { ...worldOf(event.instanceId), NonRetryableError };
    return programOf(event).run(step as unknown as ProgramStep, event, world);
  }
}

const workflows = { programs: ProgramWorkflow };

export class Programs extends PerdureObject.of({ workflows }) {}

export default {
  async fetch(request: Request, env: { readonly OBJECTS: ObjectNamespace }): Promise<Response> {
    const { programs } = createObjectRouter({ objects: env.OBJECTS, workflows, shards: 2 }).workflows;
    const call = (await request.json()) as Call;
    return Response.json(await answer(programs as unknown as AnyBinding, call, stepResults as unknown as StepResults));
  },
};
