/**
 * Builds the package: one bundle for each entry point, chunks for the code that they share, and their types.
 *
 *     npm run build
 */
import { execFile } from "node:child_process";
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { type OutputOptions, type RolldownOptions, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import manifest from "../package.json" with { type: "json" };
import configuration from "../tsconfig.json" with { type: "json" };
import { buildPage } from "./build-page.ts";
import { createChunkGroups } from "./chunks.ts";
import { entryPoints, PROGRAM, root, workerEntryPoints } from "./entry-points.ts";

const execute = promisify(execFile);

/** Node loads these by their path beside `perdure/register`, so each is complete in itself. */
const LOADER = ["cloudflare/register", "cloudflare/resolve-hook"];

/** `perdure/register` provides these to files that import Cloudflare's modules. */
const CLOUDFLARE_MODULES = ["cloudflare/email", "cloudflare/sockets"];

const entries = [...entryPoints, ...workerEntryPoints].map(({ path }) => path);
const shared = [...entries, ...CLOUDFLARE_MODULES, PROGRAM].filter((path) => !LOADER.includes(path));

const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

const common = {
  cwd: root,
  platform: "neutral",
  external: [/^(node|cloudflare):|^#dashboard-page$/, ...packages.flatMap((name) => [name, new RegExp(`^${name}/`)])],
  transform: { target: configuration.compilerOptions.target },
  checks: { pluginTimings: false },
} satisfies RolldownOptions;

/** A stack that is mapped back shows our sources, although the package doesn't have them as files. */
function toCode(directory: string): OutputOptions {
  return {
    dir: directory,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    sourcemap: true,
    // Wherever it is built, the sources are where they are for `dist` in the repository.
    sourcemapPathTransform: (source, map) => {
      const place = dirname(join(root, "dist", relative(directory, map)));
      return relative(place, resolve(dirname(map), source));
    },
    comments: { annotation: true, jsdoc: false, legal: true },
  };
}

export async function buildPackage(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await Promise.all([buildCode(directory), buildTypes(directory), writePage(directory)]);
}

/** The page of the dashboard with all of its files is one module, which a server loads with the first request for it. */
async function writePage(directory: string): Promise<void> {
  await mkdir(join(directory, "dashboard"), { recursive: true });
  await writeFile(join(directory, "dashboard/page.js"), await buildPage());
}

async function buildCode(directory: string): Promise<void> {
  const bundle = { ...common, input: toInput(shared, join(root, "src"), ".ts") };
  await write(bundle, { ...toCode(directory), codeSplitting: { groups: createChunkGroups() } });
  for (const path of LOADER) {
    await write({ ...common, input: toInput([path], join(root, "src"), ".ts") }, toCode(directory));
  }
}

/** The compiler writes the types of each file, without what is marked `@internal`; the bundler puts them together. */
async function buildTypes(directory: string): Promise<void> {
  const types = await mkdtemp(join(tmpdir(), "perdure-types-"));
  try {
    const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
    const project = ["-p", join(root, "tsconfig.build.json"), "--outDir", types];
    await execute(process.execPath, [compiler, ...project]).catch((error: { stdout: string }) => {
      throw new Error(`The types can't be built.\n${error.stdout}`);
    });
    const input = toInput([...entries, ...CLOUDFLARE_MODULES], types, ".d.ts");
    const plugins = [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })];
    const names = { entryFileNames: "[name].ts", chunkFileNames: "chunks/[name].ts" };
    await write({ ...common, cwd: types, input, plugins }, { format: "esm", dir: directory, ...names });
    await referToDisposables(directory);
  } finally {
    await rm(types, { recursive: true, force: true });
  }
}

/** Users' projects may have an older `lib`, in which these types are missing: they would not compile without `skipLibCheck`. */
async function referToDisposables(directory: string): Promise<void> {
  for await (const file of glob("**/*.d.ts", { cwd: directory })) {
    const path = join(directory, file);
    const types = await readFile(path, "utf8");
    if (/\b(Async)?Disposable\b|Symbol\.(asyncD|d)ispose\b/.test(types))
      await writeFile(path, `/// <reference lib="esnext.disposable" />\n${types}`);
  }
}

/** Entry points keep the paths of their sources. */
function toInput(paths: readonly string[], directory: string, extension: string): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, join(directory, `${path}${extension}`)]));
}

async function write(options: RolldownOptions, output: OutputOptions): Promise<void> {
  await using bundle = await rolldown({
    ...options,
    onLog: (level, { message }) => {
      if (level === "warn") throw new Error(message);
    },
  });
  await bundle.write(output);
}

if (import.meta.main) await buildPackage(resolve(process.argv[2] ?? join(root, "dist")));
