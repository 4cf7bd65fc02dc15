import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

type Env = {
  BACKUP: Workflow<Params>;
  NOTIFY: Workflow<{ text: string }>;
  BUCKET: string;
};

type Params = { readonly table: string; readonly rows: number };

export class BackupWorkflow extends WorkflowEntrypoint<Env, Params> {
  async run(event: WorkflowEvent<Params>, step: WorkflowStep) {
    const { table, rows } = event.payload;
    const dump = await step.do("dump the table", async () => {
      if (rows < 0) throw new NonRetryableError("There can't be fewer rows than none.");
      return { file: `${table}.sql`, at: event.timestamp, rows };
    });
    await step.sleep("let replicas catch up", "1 second");
    const stored = await step.do(
      "upload",
      { retries: { limit: 3, delay: "1 second", backoff: "constant" }, timeout: "5 minutes" },
      async (ctx) => {
        if (ctx.attempt < 2) throw new Error("The bucket is busy.");
        return `${this.env.BUCKET}/${dump.file}`;
      },
    );
    const approval = await step.waitForEvent<{ by: string }>("wait for approval", {
      type: "approved",
      timeout: "1 hour",
    });
    await step.do("tell people", async () => {
      await this.env.NOTIFY.create({
        id: `${event.instanceId}-told`,
        params: { text: `${stored} by ${approval.payload.by}` },
      });
    });
    return { stored, rows: dump.rows, known: dump.at instanceof Date };
  }
}

export class NotifyWorkflow extends WorkflowEntrypoint<Env, { text: string }> {
  async run(event: Readonly<WorkflowEvent<{ text: string }>>, step: WorkflowStep): Promise<string> {
    return step.do("send", async () => event.payload.text.toUpperCase());
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const id = new URL(request.url).searchParams.get("id");
    if (id !== null) {
      const instance = await env.BACKUP.get(id);
      return Response.json({ status: await instance.status() });
    }
    const instance = await env.BACKUP.create({ params: { table: "orders", rows: 3 } });
    return Response.json({ id: instance.id, details: await instance.status() });
  },
};
