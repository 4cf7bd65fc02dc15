import { setTimeout as delay } from "node:timers/promises";
import { defineSubjects, type SubjectsDefinition } from "../../../src/index.ts";
import { LEASE_MS } from "../../settings.ts";
import type { WorkingProcess } from "../../workload.ts";

export interface Cursor {
  readonly page: number;
}

/** Subjects that workers handle page by page, and whether their handler fails at first. */
export const PAGES_ID = "chaosPages";
export const KINDS = ["pages", "flaky"] as const;
export type KindName = (typeof KINDS)[number];

export const LAST_PAGE = 4;
const LONGEST_PAGE_MS = 40;
const RETRIES = { delay: 50, maxDelay: 500 } as const;

/** Each page is recorded before it begins, and again when its checkpoint is acknowledged. Completed subjects rest. */
export function createPages({ random, points, write }: WorkingProcess): SubjectsDefinition {
  return defineSubjects<Cursor, { kind: KindName }>({
    every: "1 day",
    leaseMs: LEASE_MS,
    retries: RETRIES,
    handle: async ({ subjectKey, cursor, meta, revision, attempts }, { checkpoint }) => {
      for (let page = cursor?.page ?? 1; page <= LAST_PAGE; page++) {
        write("began", subjectKey, { revision, page });
        await delay(random.integer(0, LONGEST_PAGE_MS));
        points.reach("mid-handler");
        await checkpoint({ page: page + 1 });
        write("stored", subjectKey, { revision, page: page + 1 });
        if (meta?.kind === "flaky" && attempts === 1) throw new Error("flaky: not at the first attempt");
      }
    },
    onProgress: ({ event, subject }) => {
      if (event === "completed") write("completed", subject.subjectKey, { revision: subject.revision });
    },
  });
}
