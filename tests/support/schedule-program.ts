/** A process that fires schedules, for tests that kill it. */
import { flushCompileCache } from "node:module";
import { perdure } from "../../src/index.ts";
import { scheduledWorkflows } from "./schedule-workflows.ts";

flushCompileCache(); // now, because a process that is killed has no other moment for it
const { database } = JSON.parse(process.argv[2] ?? "") as { database: string };
await perdure({ database, workflows: scheduledWorkflows, worker: { leaseMs: 3000 } });
process.send?.({ say: "ready" });
