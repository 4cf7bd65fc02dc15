import { Cron } from "croner";
import { InvalidInputError } from "../../errors.ts";

/** A fixed time from which to check that an expression has any times; it is just before a leap day. */
const SOME_TIME = Date.UTC(2024, 0, 1);
const ACCEPTED =
  'five fields ("0 9 * * 1-5": minute, hour, day of the month, month, day of the week), six (a second before them), or one of ' +
  "@hourly, @daily, @weekly, @monthly and @yearly";

/**
 * The times of a cron expression in a time zone. A time that a clock change skips happens right after the change. A time that
 * it repeats happens once if the expression names a time of day, and in both hours if it names an interval.
 */
export class CronTimes {
  readonly cron: string;
  readonly timezone: string;
  readonly #times: Cron;

  constructor(cron: unknown, timezone: unknown) {
    if (typeof cron !== "string" || !isExpression(cron)) throw invalid(`A cron expression has ${ACCEPTED}`, cron);
    this.cron = cron.trim().replace(/\s+/g, " ");
    this.timezone = checkTimezone(timezone);
    try {
      this.#times = new Cron(this.cron, { timezone: this.timezone, mode: "5-or-6-parts", paused: true });
    } catch (error) {
      throw invalid(`A cron expression has ${ACCEPTED}`, cron, error as Error);
    }
    if (this.nextAfter(SOME_TIME) === null) throw invalid("A cron expression must match a future time", cron);
  }

  /** The first time after this one, in milliseconds; null if there is none. */
  nextAfter(time: number): number | null {
    return this.#times.nextRun(new Date(time))?.getTime() ?? null;
  }

  /** The last time up to this one. */
  lastUpTo(time: number): number | null {
    const nextSecond = Math.floor(time / 1000) * 1000 + 1000; // times are whole seconds
    return this.#times.previousRuns(1, new Date(nextSecond))[0]?.getTime() ?? null;
  }
}

/** The parser also accepts dates, which never recur. */
function isExpression(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("@") || /^\S+(\s+\S+){4,5}$/.test(trimmed);
}

function checkTimezone(timezone: unknown): string {
  try {
    if (typeof timezone === "string" && timezone !== "") {
      new Intl.DateTimeFormat("en", { timeZone: timezone });
      return timezone;
    }
  } catch {
    // reported below
  }
  throw invalid('A time zone is a name like "Europe/Berlin" or "UTC"', timezone);
}

function invalid(accepted: string, value: unknown, cause?: Error): InvalidInputError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : `a value of type ${typeof value}`;
  const why = cause === undefined ? "" : ` (${cause.message.replace(/^CronPattern: /, "").replace(/\.$/, "")})`;
  return new InvalidInputError("schedule.invalid", `${accepted}; got ${shown}${why}.`, { cause });
}
