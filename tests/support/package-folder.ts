import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the first test that needs the packed package puts it, for all test files of this run; see `installPackage`. */
    readonly packageFolder: string;
  }
}

/** The folder is the same for every project of one run, and goes with it. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = join(tmpdir(), `perdure-package-${process.pid}`);
  project.provide("packageFolder", folder);
  return () => rm(folder, { recursive: true, force: true });
}
