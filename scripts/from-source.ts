/**
 * Lets a program in this repository import `perdure` from its sources, without a build.
 *
 *     node --import ./scripts/from-source.ts examples/demo.ts
 */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { entryPoints } from "./entry-points.ts";

const urls = new Map(entryPoints.map(({ specifier, source }) => [specifier, pathToFileURL(source).href]));

registerHooks({ resolve: (specifier, context, next) => next(urls.get(specifier) ?? specifier, context) });
