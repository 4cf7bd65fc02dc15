import type { SubjectDispatcher } from "../../../src/index.ts";
import type { ChaosApplication, Workload } from "../../workload.ts";
import { accountForSubjects, type CollectedSubject } from "./accounts.ts";
import { type Cursor, createPages, PAGES_ID } from "./pages.ts";
import { produce } from "./produce.ts";

const PAGE = 1000;
const UNFINISHED = ["idle", "failed", "leased", "running"] as const;

/** Subjects that workers handle, and subjects that scripts claim by themselves. */
export const subjectsWorkload: Workload = {
  name: "subjects",
  tables: [],
  hooks: () => ({}),
  subjects: (process) => ({ [PAGES_ID]: createPages(process) }),
  produce,
  left,
  collect,
  accounts: (entries, collected) => accountForSubjects(entries, collected as readonly CollectedSubject[]),
};

function pagesOf(app: ChaosApplication): SubjectDispatcher<Cursor> {
  return app.subjects.dispatcher<Cursor>(PAGES_ID);
}

async function left(app: ChaosApplication): Promise<number> {
  let found = 0;
  for (const status of UNFINISHED) {
    for await (const { lastSuccessAt } of list(app, { status })) if (lastSuccessAt === null) found++;
  }
  return found;
}

async function collect(app: ChaosApplication): Promise<CollectedSubject[]> {
  const collected: CollectedSubject[] = [];
  for await (const { subjectKey, lastSuccessAt, cursor } of list(app, {})) {
    collected.push({ subjectKey, succeeded: lastSuccessAt !== null, page: cursor?.page ?? 0 });
  }
  return collected;
}

async function* list(app: ChaosApplication, filter: { readonly status?: (typeof UNFINISHED)[number] }) {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const after = cursor === undefined ? {} : { cursor };
    const page = await pagesOf(app).listSubjects({ ...filter, limit: PAGE, ...after });
    yield* page.subjects;
    cursor = page.nextCursor;
  }
}
