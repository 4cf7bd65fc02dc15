import { type Mutation, rewriting } from "./rewriting.ts";

const FIRE = /^update perdure_schedule set due_at = \?, last_at = \?/;
const PAUSE = /^update perdure_schedule set paused = 1/;
const INSERT = /^insert into perdure_schedule/;
const LIST = /^select .* from perdure_schedule\s+where namespace in/s;

/** Protections of schedules. */
export const SCHEDULE_MUTATIONS: readonly Mutation[] = [
  rewriting("stale firings count", [
    [FIRE, "and due_at = ? and due_at <= ?", "and (due_at = ? or true) and (due_at <= ? or true)"],
  ]),
  rewriting("pausing a schedule leaves it due", [[PAUSE, "due_at = null", "due_at = due_at"]]),
  rewriting(
    "other times of a paused schedule aren't paused",
    [[INSERT, "case when other.paused then null else ?6 end, ?7, other.paused", "?6, ?7, 0 * other.paused"]],
    { seed: 11 },
  ),
  rewriting("no process sees that a schedule is due", [[LIST, " due_at,", " due_at + 3600000 as due_at,"]]),
];
