import type { Migration } from "../../migration.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { catalog } from "./catalog.ts";
import { confirmations } from "./confirmations.ts";
import { debounce } from "./debounce.ts";
import { hooks } from "./hooks.ts";
import { instanceTraits } from "./instance-traits.ts";
import { lines } from "./lines.ts";
import { requests } from "./requests.ts";
import { rollbacks } from "./rollbacks.ts";
import { schedules } from "./schedules.ts";
import { stepStarts } from "./step-starts.ts";
import { streams } from "./streams.ts";
import { subjectStarts } from "./subject-starts.ts";
import { subjects } from "./subjects.ts";
import { workflows } from "./workflows.ts";

/** The tables of Perdure in PostgreSQL. Released migrations are never changed; new ones are added at the end. */
export function schemaMigrations(schema: SchemaPrefix): Migration[] {
  return [
    { owner: "perdure", number: 1, name: "hooks", breaking: true, sql: hooks(schema) },
    { owner: "perdure", number: 2, name: "workflows", breaking: false, sql: workflows(schema) },
    { owner: "perdure", number: 3, name: "subjects", breaking: false, sql: subjects(schema) },
    { owner: "perdure", number: 4, name: "instance traits", breaking: false, sql: instanceTraits(schema) },
    { owner: "perdure", number: 5, name: "rollbacks", breaking: false, sql: rollbacks(schema) },
    { owner: "perdure", number: 6, name: "streams", breaking: false, sql: streams(schema) },
    { owner: "perdure", number: 7, name: "schedules", breaking: false, sql: schedules(schema) },
    { owner: "perdure", number: 8, name: "catalog", breaking: false, sql: catalog(schema) },
    { owner: "perdure", number: 9, name: "lines", breaking: false, sql: lines(schema) },
    { owner: "perdure", number: 10, name: "debounce", breaking: false, sql: debounce(schema) },
    { owner: "perdure", number: 11, name: "step starts", breaking: false, sql: stepStarts(schema) },
    { owner: "perdure", number: 12, name: "subject starts", breaking: false, sql: subjectStarts(schema) },
    { owner: "perdure", number: 13, name: "requests", breaking: false, sql: requests(schema) },
    { owner: "perdure", number: 14, name: "confirmations", breaking: false, sql: confirmations(schema) },
  ];
}
