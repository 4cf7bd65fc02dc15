/** A process that fires schedules, for tests that kill it. */
import { perdure } from "../../src/index.ts";
import { scheduledWorkflows } from "./schedule-workflows.ts";

const { database } = JSON.parse(process.argv[2] ?? "") as { database: string };
await perdure({ database, workflows: scheduledWorkflows, worker: { leaseMs: 3000 } });
process.send?.({ say: "ready" });
