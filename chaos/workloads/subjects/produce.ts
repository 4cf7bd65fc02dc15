import { setTimeout as delay } from "node:timers/promises";
import { RevisionConflictError, StoreError } from "../../../src/index.ts";
import { LEASE_MS } from "../../settings.ts";
import type { ProducingProcess } from "../../workload.ts";
import { type Cursor, KINDS, type KindName, LAST_PAGE, PAGES_ID } from "./pages.ts";

/** Subjects that scripts claim and change by themselves. All scripts share them. */
const SCRIPT_ID = "chaosScript";
const SCRIPT_SUBJECTS = 6;
const MOST_AT_ONCE = 4;
const LONGEST_PAUSE_MS = 400;
const LONGEST_PAGE_MS = 60;

export async function produce(producing: ProducingProcess): Promise<void> {
  await Promise.all([discover(producing), runScripts(producing)]);
}

/** Finds new subjects for workers. */
async function discover({ name, app, random, write, stopping }: ProducingProcess): Promise<void> {
  const dispatcher = app.subjects.dispatcher<Cursor, { kind: KindName }>(PAGES_ID);
  for (let found = 0; !stopping(); ) {
    const subjects = Array.from({ length: random.integer(1, MOST_AT_ONCE) }, () => {
      const kind = random.pick(KINDS);
      return { subjectKey: `s-${name}-${++found}`, cursor: { page: 1 }, meta: { kind } };
    });
    for (const { subjectKey, meta } of subjects) write("asked", subjectKey, meta);
    // A sync that is sent again after a lost answer must not reset a subject that has failed meanwhile.
    const answer = await dispatcher
      .syncSubjects({ subjects, keepProgress: true })
      .then(() => ({ did: "accepted" }), toAnswer);
    for (const { subjectKey } of subjects) write(answer.did, subjectKey, answer);
    await delay(random.integer(0, LONGEST_PAUSE_MS));
  }
}

/** The documented pattern, again and again: sync with the first page, claim, checkpoint each page, complete. */
async function runScripts({ app, random, write, stopping }: ProducingProcess): Promise<void> {
  const dispatcher = app.subjects.dispatcher<Cursor>(SCRIPT_ID);
  const keys = Array.from({ length: SCRIPT_SUBJECTS }, (_, index) => `script-${index}`);
  const work = async () => {
    await dispatcher.syncSubjects({ subjects: keys.map((subjectKey) => ({ subjectKey, cursor: { page: 1 } })) });
    for (const claimed of await dispatcher.claimDueSubjects({ limit: 2, leaseMs: LEASE_MS })) {
      const { subjectKey } = claimed;
      let { revision } = claimed;
      let page = claimed.cursor?.page ?? 1;
      write("claimed", subjectKey, { revision, page });
      while (page < LAST_PAGE && !stopping()) {
        await delay(random.integer(0, LONGEST_PAGE_MS));
        page++;
        ({ revision } = await dispatcher.checkpointSubject({
          subjectKey,
          revision,
          cursor: { page },
          leaseMs: LEASE_MS,
        }));
        write("stored", subjectKey, { revision, page });
      }
      write("ending", subjectKey, { revision });
      await dispatcher.completeSubject({ subjectKey, revision, nextDueAt: 0 });
      write("ended", subjectKey, { revision });
    }
  };
  while (!stopping()) {
    await work().catch((error: unknown) => {
      if (!(error instanceof RevisionConflictError)) write("refused", "script", toAnswer(error));
    });
    await delay(random.integer(0, LONGEST_PAUSE_MS));
  }
}

/** Without an answer from the database it may have happened or not. */
function toAnswer(error: unknown): { did: string; code: unknown; message: string } {
  const { code = null } = Object(error) as { code?: unknown };
  return { did: error instanceof StoreError ? "unknown" : "refused", code, message: String(error) };
}
