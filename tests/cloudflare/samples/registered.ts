import { perdure } from "../../../src/index.ts";
import worker, { BackupWorkflow, NotifyWorkflow } from "./backup.ts";

/** Written against Cloudflare's types, and accepted as they are: classes, parameters, and the environment. */
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
  return { result, worker };
}
