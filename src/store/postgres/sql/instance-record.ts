import type { InstanceStatus } from "../../instance-records.ts";

/** Somebody has it. A row of class 2 without an owner was given back after a recovery, and is waiting to be taken over. */
const HELD = "instance.class = 2 and instance.lock is not null";

/** The first condition that holds tells the status. Outcomes are stored as the statuses that they are. */
const UNFINISHED: Partial<Record<InstanceStatus, string>> = {
  waitingForPause: `instance.paused and ${HELD}`,
  paused: "instance.paused",
  running: HELD,
  queued: "instance.started_at is null",
};

/** An instance's status follows from its queue columns until it is finished. */
export const STATUS = `case when instance.outcome is not null then instance.outcome ${Object.entries(UNFINISHED)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} else 'waiting' end`;

export const RECORD = `instance.namespace, instance.name, instance.id, instance.ref, instance.run, ${STATUS} as status,
  instance.params::text as params, instance.output::text as output, instance.error::text as error, instance.labels::text as labels,
  instance.priority, instance.schedule::text as schedule, instance.created_at, instance.started_at, instance.finished_at, instance.available_at`;
