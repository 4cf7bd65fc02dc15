import type { HookWork } from "./hook-work.ts";
import { drain } from "./works/drain.ts";
import { enqueueConcurrent } from "./works/enqueue-concurrent.ts";
import { enqueueSequential } from "./works/enqueue-sequential.ts";
import { idle } from "./works/idle.ts";
import { latency } from "./works/latency.ts";

export const WORKS: readonly HookWork[] = [enqueueSequential, enqueueConcurrent, drain, latency, idle];
