/**
 * Writes the reports on the API of the package, in api/. A test compares them with the types that are built.
 *
 *     npm run api
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportApi } from "./api-reports.ts";
import { buildPackage } from "./build.ts";
import { root } from "./entry-points.ts";

const built = await mkdtemp(join(tmpdir(), "perdure-api-"));
try {
  await buildPackage(built);
  const reports = join(root, "api");
  await rm(reports, { recursive: true, force: true });
  await mkdir(reports);
  for (const [name, text] of reportApi(built)) await writeFile(join(reports, `${name}.api.md`), text);
} finally {
  await rm(built, { recursive: true, force: true });
}
