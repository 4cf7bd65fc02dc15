/** A process that runs jobs, for tests that kill it. */
import { flushCompileCache } from "node:module";
import { perdure } from "../../src/index.ts";
import { workflowsOfJobs } from "./job-workflows.ts";

flushCompileCache(); // now, because a process that is killed has no other moment for it
const { database } = JSON.parse(process.argv[2] ?? "") as { database: string };
await perdure({ database, workflows: workflowsOfJobs, worker: { leaseMs: 3000 } });
process.send?.({ say: "ready" });
