import type { ScheduleOption } from "../../src/workflows/schedules/schedule-option.ts";
import type { Params } from "../checks/instance-records.ts";
import type { ProgramName } from "../names.ts";

/** Which version of the application's code a process runs: each has schedules of its own. */
export type CodeVersion = "none" | "old" | "new";
export const CODE_VERSIONS: readonly CodeVersion[] = ["none", "old", "old", "new"];

const params: Params = { n: null, plans: [["succeed"], ["work"]], short: 500, long: 7000 };

/** Times are in seconds here. Old and new code share a name with other times, and one schedule as it is. */
const SCHEDULES: Readonly<Record<CodeVersion, Partial<Record<ProgramName, readonly ScheduleOption<Params>[]>>>> = {
  none: {},
  old: {
    looping: [{ name: "often", cron: "*/20 * * * * *", params }],
    child: [{ cron: "*/45 * * * * *", params }],
  },
  new: {
    looping: [
      { name: "often", cron: "*/30 * * * * *", params },
      { name: "seldom", cron: "10 * * * * *", timezone: "Europe/Berlin", params },
    ],
    child: [{ cron: "*/45 * * * * *", params }],
  },
};

export const SCHEDULED_PROGRAMS: readonly ProgramName[] = ["looping", "child"];

export function schedulesOf(version: CodeVersion, name: ProgramName): readonly ScheduleOption<Params>[] {
  return SCHEDULES[version][name] ?? [];
}
