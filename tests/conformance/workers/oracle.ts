import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { type Begin, PROGRAMS, type ProgramStep } from "../programs.ts";

interface Env {
  readonly PROGRAMS: {
    create(options: object): Promise<Instance>;
    get(id: string): Promise<Instance>;
  };
}

interface Instance {
  readonly id: string;
  status(): Promise<object>;
  sendEvent(event: object): Promise<void>;
}

/** Runs a program on Cloudflare's own engine. */
export class ProgramWorkflow extends WorkflowEntrypoint {
  override async run(event: Begin, step: ProgramStep): Promise<unknown> {
    const program = PROGRAMS.find(({ name }) => name === event.payload.program);
    return program?.run(step, event, { NonRetryableError });
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { create, id, event } = (await request.json()) as { create?: object; id?: string; event?: object };
    if (create !== undefined) return Response.json({ id: (await env.PROGRAMS.create(create)).id });
    const instance = await env.PROGRAMS.get(id as string);
    if (event !== undefined) await instance.sendEvent(event);
    return Response.json(await instance.status());
  },
};
