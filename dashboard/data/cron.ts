const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** A cron expression in words. One that says more than these words can is returned as it is. */
export function describeCron(cron: string): string {
  const fields = (NICKNAMES[cron.toLowerCase()] ?? cron).trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6) return cron;
  const [second = "0", minute = "*", hour = "*", day = "*", month = "*", weekday = "*"] =
    fields.length === 6 ? fields : ["0", ...fields];
  const time = timeOf(second, minute, hour);
  const days = daysOf(day, month, weekday);
  if (time === null || days === null) return cron;
  const often = time.startsWith("every");
  const text = often ? (days === "every day" ? time : `${time}, ${days}`) : `${days} at ${time}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function timeOf(second: string, minute: string, hour: string): string | null {
  const everySecond = stepOf(second);
  if (everySecond !== null && minute === "*" && hour === "*") return every(everySecond, "second");
  if (!isNumber(second)) return null;
  const everyMinute = stepOf(minute);
  if (everyMinute !== null && hour === "*") return every(everyMinute, "minute");
  const everyHour = stepOf(hour);
  if (isNumber(minute) && everyHour !== null) {
    return Number(minute) === 0 ? every(everyHour, "hour") : `${every(everyHour, "hour")}, ${minute} minutes past`;
  }
  if (!isNumber(minute) || !isList(hour)) return null;
  const seconds = Number(second) === 0 ? "" : `:${second.padStart(2, "0")}`;
  return listed(hour.split(",").map((one) => `${one.padStart(2, "0")}:${minute.padStart(2, "0")}${seconds}`));
}

function daysOf(day: string, month: string, weekday: string): string | null {
  const months = month === "*" ? "" : namesOf(month, MONTHS, 1);
  const weekdays = weekday === "*" ? "" : namesOf(weekday, DAYS, 0);
  if (months === null || weekdays === null) return null;
  const inMonths = months === "" ? "" : ` in ${months}`;
  if (day === "*") return `${weekdays === "" ? "every day" : `every ${weekdays}`}${inMonths}`;
  if (!isList(day) || weekdays !== "") return null;
  return `on day ${listed(day.split(","))} ${months === "" ? "of every month" : `of ${months}`}`;
}

/** "1-5" and "mon,wed", in words; null if it is something else. */
function namesOf(field: string, names: readonly string[], first: number): string | null {
  const nameOf = (text: string): string | undefined => {
    const index = isNumber(text)
      ? Number(text) - first
      : names.findIndex((name) => text.length === 3 && name.toLowerCase().startsWith(text.toLowerCase()));
    return names[names === DAYS ? index % 7 : index];
  };
  const parts = field.split(",").map((part) => {
    const [from = "", to, ...more] = part.split("-");
    const start = nameOf(from);
    const end = to === undefined ? undefined : nameOf(to);
    if (start === undefined || more.length > 0 || (to !== undefined && end === undefined)) return null;
    return end === undefined ? start : `${start} to ${end}`;
  });
  return parts.includes(null) ? null : listed(parts as string[]);
}

function stepOf(field: string): number | null {
  if (field === "*") return 1;
  const [, step] = /^(?:\*|0)\/(\d+)$/.exec(field) ?? [];
  return step === undefined ? null : Number(step);
}

function every(step: number, unit: string): string {
  return step === 1 ? `every ${unit}` : `every ${step} ${unit}s`;
}

function isNumber(field: string): boolean {
  return /^\d+$/.test(field);
}

function isList(field: string): boolean {
  return /^\d+(,\d+)*$/.test(field);
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
