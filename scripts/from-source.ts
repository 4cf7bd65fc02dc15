/**
 * Lets a program in this repository import `perdure` from its sources, without a build.
 *
 *     node --import ./scripts/from-source.ts examples/demo.ts
 */
import { execFileSync } from "node:child_process";
import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { entryPoints, PAGE } from "./entry-points.ts";

const urls = new Map(entryPoints.map(({ specifier, source }) => [specifier, pathToFileURL(source).href]));

/** The page of the dashboard is built when a program first needs it. */
function findPage(): string {
  execFileSync(process.execPath, [fileURLToPath(new URL("build-page.ts", import.meta.url))], { stdio: "inherit" });
  return pathToFileURL(PAGE).href;
}

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "#dashboard-page" ? findPage() : (urls.get(specifier) ?? specifier), context),
});
