import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { InstanceListOptions } from "../workflows/instances/workflow-binding.ts";
import { toWire } from "./wire.ts";

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
const LIST_FIELDS = ["status", "labels", ...TIMES, "order", "limit", "cursor"];

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What creates an instance, as it is sent: its params are a value of the user's. */
export function toWireOptions({ params, ...rest }: { readonly params?: unknown }): unknown {
  return params === undefined ? rest : { ...rest, params: toWire(params) };
}

/** Times as texts, several statuses as several, and labels as `tenant=acme`. */
export function toListQuery(options: InstanceListOptions): Query {
  checkOptions(options, { label: "list", fields: LIST_FIELDS });
  const { labels, status, order, limit, cursor } = options;
  return {
    status,
    order,
    cursor,
    limit: limit === undefined ? undefined : String(limit),
    label: Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...Object.fromEntries(TIMES.map((name) => [name, toTime(name, options[name])])),
  };
}

function toTime(name: string, value: Date | number | undefined): string | undefined {
  if (value === undefined) return undefined;
  const time = new Date(value);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidInputError("options.invalid", `${name} must be a Date, or milliseconds since the epoch.`);
}
