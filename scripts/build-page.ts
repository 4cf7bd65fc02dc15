/**
 * Builds the page of the dashboard from `dashboard/`: a module with all of its files as texts.
 *
 *     node scripts/build-page.ts    # for programs that run from source, where the page isn't built yet or has changed
 */
import { existsSync, globSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build, type Rolldown } from "vite";
import { PAGE, root } from "./entry-points.ts";

const directory = join(root, "dashboard");

/** The text of the module. */
export async function buildPage(): Promise<string> {
  const { output } = (await build({
    root: directory,
    configFile: false,
    base: "./",
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      target: "es2022",
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: { main: join(directory, "main.tsx") },
        output: {
          entryFileNames: "[name]-[hash].js",
          chunkFileNames: "[name]-[hash].js",
          assetFileNames: "[name]-[hash][extname]",
        },
      },
    },
  })) as Rolldown.RolldownOutput;
  const files = output.map((file) => [file.fileName, file.type === "chunk" ? file.code : String(file.source)] as const);
  const icon = ["icon.svg", await readFile(join(directory, "icon.svg"), "utf8")] as const;
  const script = output.find((file) => file.type === "chunk" && file.isEntry)?.fileName;
  const styles = files.map(([name]) => name).filter((name) => name.endsWith(".css"));
  return [
    `export const files = ${JSON.stringify(Object.fromEntries([...files, icon]), null, 1)};`,
    `export const script = ${JSON.stringify(script)};`,
    `export const styles = ${JSON.stringify(styles)};`,
    "",
  ].join("\n");
}

/** Whether a source is newer than the page that was built from it. */
export function isPageStale(): boolean {
  if (!existsSync(PAGE)) return true;
  const built = statSync(PAGE).mtimeMs;
  const sources = globSync(
    ["dashboard/**/*.{ts,tsx,css,svg}", "src/{values,duration,cursor}*/*.ts", "scripts/build-page.ts"],
    {
      cwd: root,
    },
  );
  return sources.some((path) => statSync(join(root, path)).mtimeMs > built);
}

/** Builds the page for programs that run from source, if need be. */
export async function ensurePage(): Promise<void> {
  if (!isPageStale()) return;
  const text = await buildPage();
  mkdirSync(dirname(PAGE), { recursive: true });
  const part = `${PAGE}.${process.pid}`;
  writeFileSync(part, text);
  renameSync(part, PAGE); // readers see the whole file, or none
}

if (import.meta.main) await ensurePage();
