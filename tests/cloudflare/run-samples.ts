import { setEnv } from "../../src/cloudflare/index.ts";
import { perdure } from "../../src/index.ts";

/** node --import perdure/register run-samples.ts DATABASE: runs the samples, and tells as JSON what came of them. */
const { default: worker, BackupWorkflow, NotifyWorkflow } = await import("./samples/backup.ts" as string);
const { GreetingWorkflow } = await import("./samples/environment.ts" as string);
setEnv({ NAME: "Ada" });

await using app = await perdure({
  database: process.argv[2] as string,
  workflows: {
    BACKUP: { name: "backup-workflow", workflow: BackupWorkflow },
    NOTIFY: { name: "notify-workflow", workflow: NotifyWorkflow },
    GREETING: GreetingWorkflow,
  },
  env: (workflows: object) => ({ ...workflows, BUCKET: "bucket" }),
});

const env = { ...app.workflows, BUCKET: "bucket" };
const { id } = await (await worker.fetch(new Request("https://example.org/"), env)).json();
const backup = await app.workflows.BACKUP.get(id);
await backup.sendEvent({ type: "approved", payload: { by: "Ada" } });
const result = await backup.result({ timeout: "1 minute" });
const told = await (await app.workflows.NOTIFY.get(`${id}-told`)).result({ timeout: "1 minute" });
const seen = await (await worker.fetch(new Request(`https://example.org/?id=${id}`), env)).json();
const refused = await app.workflows.BACKUP.create({ params: { table: "none", rows: -1 } } as never);
const failure = await refused.result({ timeout: "1 minute" }).catch((error: Error) => (error.cause as Error).message);
const greeting = await (await app.workflows.GREETING.create()).result({ timeout: "1 minute" });
console.log(JSON.stringify({ result, told, status: seen.status.status, failure, greeting }));
