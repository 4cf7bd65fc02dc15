import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Every document of the repository, by its path from the root. */
export const DOCUMENTS = globSync(["*.md", "docs/**/*.md", "{bench,chaos,simulation}/*.md"], { cwd: root }).toSorted();

/** Which test compiles or runs the TypeScript samples of which documents. `documents.test.ts` checks that none is missing. */
export const SAMPLES = {
  "tests/docs/documents.test.ts": [
    "README.md",
    "docs/encryption.md",
    "docs/fragments.md",
    "docs/hooks.md",
    "docs/jobs.md",
    "docs/monitoring.md",
    "docs/postgres.md",
    "docs/production.md",
    "docs/runbook.md",
    "docs/sqlite.md",
    "docs/transactions.md",
  ],
  "tests/docs/workflows.test.ts": [
    "docs/getting-started.md",
    "docs/workflows.md",
    "docs/steps-and-retries.md",
    "docs/sleeping-and-events.md",
    "docs/children.md",
    "docs/lifecycle.md",
    "docs/rollback.md",
    "docs/limits.md",
    "docs/schedules.md",
    "docs/progress-and-streams.md",
    "docs/results-and-history.md",
    "docs/versioning-code.md",
    "docs/recipes.md",
    "docs/errors.md",
  ],
  "tests/docs/client.test.ts": ["docs/client.md"],
  "tests/docs/cloudflare.test.ts": ["docs/cloudflare.md"],
  "tests/docs/http.test.ts": ["docs/http.md", "docs/dashboard.md", "docs/mcp.md", "docs/security.md"],
  "tests/docs/subjects.test.ts": ["docs/subjects.md"],
  "tests/cli/applications.test.ts": ["docs/cli.md"],
  "tests/testing/documentation.test.ts": ["docs/testing.md"],
} as const;

export function readDocument(document: string): string {
  return readFileSync(join(root, document), "utf8");
}

/** The TypeScript samples of a document, in order. */
export function samplesOf(document: string): string[] {
  return Array.from(readDocument(document).matchAll(/```ts\n([\s\S]*?)```/g), ([, sample]) => sample as string);
}
