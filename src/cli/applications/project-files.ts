export type Database = "sqlite" | "postgres";

export interface Project {
  readonly name: string;
  /** Of Perdure. */
  readonly version: string;
  readonly database: Database;
}

/** The files of a minimal project, by name. */
export function projectFiles({ name, version, database }: Project): Readonly<Record<string, string>> {
  const location = database === "sqlite" ? '"app.db"' : 'process.env.DATABASE_URL ?? "postgres://localhost/app"';
  const driver = database === "sqlite" ? {} : { pg: "^8.11.0" };
  const manifest = {
    name,
    private: true,
    type: "module",
    scripts: { dev: "perdure dev", start: "perdure start" },
    dependencies: { perdure: `^${version}`, ...driver },
  };
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "app.ts": APP.replace("DATABASE", location),
    ".gitignore": "node_modules/\n*.db\n*.db-shm\n*.db-wal\n.perdure/\n",
  };
}

const APP = `import { defineHook, defineWorkflow, type WorkflowEvent } from "perdure";

const notify = defineHook({}, async (message: string) => console.log(message));

const greeting = defineWorkflow(
  { name: "greeting", schedules: [{ cron: "* * * * *", name: "every-minute", params: "world" }] },
  async (event: WorkflowEvent<string>, step) => {
    const text = await step.do("compose", async () => \`Hello, \${event.payload}!\`);
    await step.sleep("a moment", "3 seconds");
    await step.trigger(notify, text);
    return text;
  },
);

export default { database: DATABASE, hooks: { notify }, workflows: { greeting } };
`;
