import type { InstanceStatus } from "../../instance-records.ts";

/** Somebody has it. A row of class 2 without an owner was given back after a recovery, and is waiting to be taken over. */
export const HELD = "class = 2 and lock is not null";

/** The first condition that holds tells the status. Outcomes are stored as the statuses that they are. */
const UNFINISHED: Partial<Record<InstanceStatus, string>> = {
  waitingForPause: `paused and ${HELD}`,
  paused: "paused",
  running: HELD,
  queued: "started_at is null",
};

/** An instance's status follows from its queue columns until it is finished. */
export const STATUS = `case when outcome is not null then outcome ${Object.entries(UNFINISHED)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} else 'waiting' end`;

export const RECORD = `namespace, name, id, ref, run, ${STATUS} as status, params, output, error, labels, priority, schedule,
  created_at, started_at, finished_at, available_at`;
