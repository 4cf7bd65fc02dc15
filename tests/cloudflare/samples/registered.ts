import { createWorkerFetch } from "../../../src/cloudflare/index.ts";
import { perdure } from "../../../src/index.ts";
import worker, { BackupWorkflow, NotifyWorkflow } from "./backup.ts";

/** Written against Cloudflare's types, and accepted as they are: classes, parameters, the environment and the fetch handler. */
export async function register(database: string) {
  const app = await perdure({
    database,
    workflows: {
      BACKUP: { name: "backup-workflow", workflow: BackupWorkflow },
      NOTIFY: { name: "notify-workflow", workflow: NotifyWorkflow },
    },
    env: (workflows: object) => ({ ...workflows, BUCKET: "bucket" }),
  });
  const instance = await app.workflows.BACKUP.create({ params: { table: "users", rows: 1 } });
  const result: { stored: string; rows: number; known: boolean } = await instance.result();
  // @ts-expect-error The params are those of the class.
  await app.workflows.NOTIFY.create({ params: { word: 1 } });

  // What Cloudflare's code expects of its bindings and instances, ours have.
  const { BACKUP, NOTIFY } = app.workflows;
  type Env = Parameters<typeof worker.fetch>[1];
  const found: WorkflowInstance = await BACKUP.get("order-1");
  // @ts-expect-error Ours asks for the params that the class needs; Cloudflare's lets them be left out.
  const strict: Env["BACKUP"] = BACKUP;
  const env = { BACKUP, NOTIFY, BUCKET: "bucket" } as unknown as Env;
  const created: WorkflowInstance = await BACKUP.create({ params: { table: "users", rows: 1 } });
  await created.sendEvent({ type: "approved", payload: { by: "Ada" } });
  const { status }: InstanceStatus = await created.status();
  // A Worker's default export as most files say it: its request and context are of Cloudflare's types.
  const handler = {
    async fetch(request, { BACKUP }, context) {
      context.waitUntil(Promise.resolve(request.cf?.colo));
      return Response.json({ id: (await BACKUP.create({ params: { table: "orders", rows: 3 } })).id });
    },
  } satisfies ExportedHandler<Env>;
  const answered = [createWorkerFetch(handler, app), createWorkerFetch(worker, app)].map((fetch) =>
    fetch(new Request("https://example.org")),
  );
  return {
    answered,
    result,
    status,
    found,
    strict,
    response: await worker.fetch(new Request("https://example.org"), env),
  };
}
