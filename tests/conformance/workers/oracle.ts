import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { type AnyBinding, answer, type Call } from "../answer.ts";
import type { Begin, ProgramStep } from "../program.ts";
import { programOf } from "../programs/index.ts";
import { worldOf } from "../world.ts";

/** Runs a program on Cloudflare's own engine. */
export class ProgramWorkflow extends WorkflowEntrypoint {
  override async run(event: Begin, step: ProgramStep): Promise<unknown> {
    return programOf(event).run(step, event, { ...worldOf(event.instanceId), NonRetryableError });
  }
}

export default {
  async fetch(request: Request, env: { readonly PROGRAMS: AnyBinding }): Promise<Response> {
    return Response.json(await answer(env.PROGRAMS, (await request.json()) as Call));
  },
};
