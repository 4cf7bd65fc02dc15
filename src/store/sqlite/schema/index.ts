import type { Migration } from "../../migration.ts";
import { CATALOG } from "./catalog.ts";
import { CONFIRMATIONS } from "./confirmations.ts";
import { DEBOUNCE } from "./debounce.ts";
import { HOOKS } from "./hooks.ts";
import { INSTANCE_TRAITS } from "./instance-traits.ts";
import { LINES } from "./lines.ts";
import { REQUESTS } from "./requests.ts";
import { ROLLBACKS } from "./rollbacks.ts";
import { ROW_NUMBERS } from "./row-numbers.ts";
import { SCHEDULES } from "./schedules.ts";
import { STEP_STARTS } from "./step-starts.ts";
import { STREAMS } from "./streams.ts";
import { SUBJECT_STARTS } from "./subject-starts.ts";
import { SUBJECTS } from "./subjects.ts";
import { WORKFLOWS } from "./workflows.ts";

/** The tables of Perdure in SQLite. Released migrations are never changed; new ones are added at the end. */
export const schemaMigrations: readonly Migration[] = [
  { owner: "perdure", number: 1, name: "hooks", breaking: true, sql: HOOKS },
  { owner: "perdure", number: 2, name: "workflows", breaking: false, sql: WORKFLOWS },
  { owner: "perdure", number: 3, name: "subjects", breaking: false, sql: SUBJECTS },
  { owner: "perdure", number: 4, name: "instance traits", breaking: false, sql: INSTANCE_TRAITS },
  { owner: "perdure", number: 5, name: "rollbacks", breaking: false, sql: ROLLBACKS },
  { owner: "perdure", number: 6, name: "streams", breaking: false, sql: STREAMS },
  { owner: "perdure", number: 7, name: "schedules", breaking: false, sql: SCHEDULES },
  { owner: "perdure", number: 8, name: "catalog", breaking: false, sql: CATALOG },
  { owner: "perdure", number: 9, name: "lines", breaking: false, sql: LINES },
  { owner: "perdure", number: 10, name: "debounce", breaking: false, sql: DEBOUNCE },
  { owner: "perdure", number: 11, name: "step starts", breaking: false, sql: STEP_STARTS },
  { owner: "perdure", number: 12, name: "subject starts", breaking: false, sql: SUBJECT_STARTS },
  { owner: "perdure", number: 13, name: "requests", breaking: false, sql: REQUESTS },
  { owner: "perdure", number: 14, name: "confirmations", breaking: false, sql: CONFIRMATIONS },
  { owner: "perdure", number: 15, name: "row numbers", breaking: false, sql: ROW_NUMBERS },
];
