import type { Client } from "pg";
import type { TableSize } from "./misled-plans.ts";

/** How many instances a statement is sent for. */
export const BATCH = 500;

const SIZES = {
  few: { sleeping: 60, running: 3, due: 3 },
  some: { sleeping: 1000, running: 1000, due: 1000 },
  many: { sleeping: 100_000, running: BATCH, due: 1000 },
};

export function refOf(kind: string, number: number): string {
  return `${kind}-${String(number).padStart(6, "0")}`;
}

/**
 * Instances that sleep until the year 2096, that run until then (but for one whose owner was lost), and that are due since
 * 1970, each with two entries and an event, and every tenth with labels.
 */
export async function fillInstances(client: Client, size: TableSize): Promise<void> {
  const { sleeping, running, due } = SIZES[size];
  await client.query(
    `insert into perdure.instance (ref, namespace, name, id, params, created_at, started_at, class, available_at, lock, wakes)
    select ref, 'app', 'checkout', 'id-' || ref, json_build_object('to', repeat('x', 50)), 0, 0,
      case kind when 'running' then 2 else 0 end,
      case when kind = 'due' or kind = 'running' and number = 1 then number else 4000000000000 + number end,
      case kind when 'running' then 'lock-' || (number - 1) % 10 end,
      1
    from (values ('sleeping', $1::int), ('running', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number, lateral (select kind || '-' || lpad(number::text, 6, '0') as ref) as made`,
    [sleeping, running, due],
  );
  await client.query(`insert into perdure.journal (ref, run, position, kind, type, name, count, attempt, value, event, at)
    select ref, 1, position, 'received', 'waitForEvent', 'charge', 1, 1, '{}', 1, 0
    from perdure.instance, generate_series(1, 2) as position`);
  await client.query(`insert into perdure.event (ref, run, id, sequence, type, payload, at)
    select ref, 1, 'event-' || ref, 1, 'go', '{}', 0 from perdure.instance`);
  await client.query(`insert into perdure.label (namespace, name, key, value, ref)
    select namespace, name, key, value, ref from (select * from perdure.instance where ref like '%0') as instance,
      (values ('tenant', 'a'), ('region', 'b'), ('plan', 'c'), ('tenant', 'd')) as label(key, value)`);
  await client.query(`insert into perdure.request (namespace, key, fingerprint, target, expires_at)
    select namespace, ref, '', '{}', 4000000000000 from perdure.instance`);
}
