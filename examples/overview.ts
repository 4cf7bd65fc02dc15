/**
 * Looks every two seconds at what has become of all workflows, and tells what is new: a workflow with a schedule. Each time
 * creates one instance, however many processes run; times that passed while no process ran are made up for once, when a process
 * starts again.
 */
import { defineWorkflow, type InstanceCounts } from "perdure";

/** What the workflow needs of the world around it. */
export interface Office {
  say(what: string): void;
  /** How many instances of each workflow are in each status. */
  count(): Promise<Readonly<Record<string, InstanceCounts>>>;
}

export function defineOverview({ say, count }: Office) {
  let told = "";
  return defineWorkflow(
    {
      name: "overview",
      schedules: [{ cron: "*/2 * * * * *", name: "every-other-second" }],
      retention: { successRetention: "1 hour" },
    },
    async ({ schedule }, step) => {
      const time = new Date(schedule?.scheduledTime ?? 0).toISOString().slice(11, 19);
      await step.do("tell", async () => {
        const state = describe(await count());
        if (state !== told) say(`${time}: ${state}`);
        told = state;
      });
    },
  );
}

/** "2 purchase complete, 1 trip rollingBack", without the overviews themselves. */
function describe({ overview: _, ...workflows }: Readonly<Record<string, InstanceCounts>>): string {
  const parts = Object.entries(workflows).flatMap(([name, { total: _, atLeast: __, ...statuses }]) =>
    Object.entries(statuses).flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${name} ${status}`])),
  );
  return parts.join(", ") || "nothing yet";
}
