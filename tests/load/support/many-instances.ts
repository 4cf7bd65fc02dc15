import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

const FINISHED = 1_000_000;
const SLEEPING = 100_000;
/** All workflows have the same share of them. */
export const WORKFLOWS = ["billing", "checkout", "shipping"] as const;

const ALL = FINISHED + SLEEPING;
const DAY_MS = 86_400_000;
/** They were created one after the other over this time, until `FILLED_AT`. Every eleventh sleeps. */
const PERIOD_MS = 12 * DAY_MS;
export const FILLED_AT = Date.now();

const COLUMNS =
  "ref, namespace, name, id, class, available_at, created_at, started_at, finished_at, purge_at, outcome, error, labels, params";

/** What differs between the engines. */
interface Dialect {
  readonly numbers: string;
  readonly ref: string;
  readonly json: (expression: string) => string;
}

/** Of the finished ones, 20,000 have failed and 20,000 were terminated. Each tenth of all has labels, one of them the same. */
function selectInstances({ numbers, ref, json }: Dialect): string {
  const names = WORKFLOWS.map((name, index) => `when ${index} then '${name}'`).join(" ");
  const made = `select number, number % 11 = 0 as sleeps, ${FILLED_AT - PERIOD_MS} + number * ${PERIOD_MS} / ${ALL} as at from ${numbers}`;
  return `select ${ref}, 'app', case number % 3 ${names} end, 'order-' || number, 0,
    case when sleeps then 4000000000000 + number end,
    at, at, case when not sleeps then at + 500 end, case when not sleeps then at + ${90 * DAY_MS} end,
    case when sleeps then null when number % 50 = 1 then 'errored' when number % 50 = 2 then 'terminated' else 'complete' end,
    ${json(`case when not sleeps and number % 50 = 1 then '{"name":"Error","message":"the card was declined"}' end`)},
    ${json(`case when number % 10 = 0 then '{"size":"any","tenant":"tenant-' || (number % 1000) || '"}' end`)},
    ${json(`'{"total":12}'`)}
  from (${made}) as made`;
}

function insertLabels(instance: string, label: string): string {
  return `insert into ${label} (namespace, name, key, value, ref)
    select namespace, name, wanted.key, labels ->> wanted.key, ref from ${instance}
    cross join (select 'tenant' as key union all select 'size') as wanted
    where labels is not null order by namespace, name, 3, 4, ref`;
}

export function fillSqlite(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec("pragma synchronous = off; pragma cache_size = -200000; begin");
    database.exec(
      `insert into perdure_instance (${COLUMNS}) ${selectInstances({
        numbers: `(with recursive counted(number) as (select 1 union all select number + 1 from counted where number < ${ALL})
        select number from counted)`,
        ref: "printf('ref-%08d', number)",
        json: (expression) => expression,
      })}`,
    );
    database.exec(insertLabels("perdure_instance", "perdure_label"));
    database.exec("commit");
  } finally {
    database.close();
  }
}

export async function fillPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off");
    await client.query(
      `insert into perdure.instance (${COLUMNS}) ${selectInstances({
        numbers: `generate_series(1::bigint, ${ALL}) as counted(number)`,
        ref: "'ref-' || lpad(number::text, 8, '0')",
        json: (expression) => `(${expression})::json`,
      })}`,
    );
    await client.query(insertLabels("perdure.instance", "perdure.label"));
    await client.query("vacuum (analyze) perdure.instance, perdure.label");
  } finally {
    await client.end();
  }
}
