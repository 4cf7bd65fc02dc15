import type { InstanceListOptions } from "../workflows/workflow-binding.ts";
import { toWire } from "./wire.ts";

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What creates an instance, as it is sent: its params are a value of the user's. */
export function toWireOptions({ params, ...rest }: { readonly params?: unknown }): unknown {
  return params === undefined ? rest : { ...rest, params: toWire(params) };
}

/** Times as texts, several statuses as several, and labels as `tenant=acme`. */
export function toListQuery(options: InstanceListOptions): Query {
  const { labels, status, order, limit, cursor, ...times } = options;
  return {
    status,
    order,
    cursor,
    limit: limit === undefined ? undefined : String(limit),
    label: Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...Object.fromEntries(Object.entries(times).map(([name, time]) => [name, new Date(time).toISOString()])),
  };
}
