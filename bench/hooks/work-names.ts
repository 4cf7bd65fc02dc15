/** The works of this suite, in the order in which they run. */
export const WORK_NAMES = {
  enqueueSequential: "enqueue one at a time",
  enqueueConcurrent: "enqueue concurrent",
  drain: "drain",
  latency: "enqueue to run",
  idle: "idle statements a minute",
} as const;
