import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { buildPackage } from "../../scripts/build.ts";
import { root } from "../../scripts/entry-points.ts";
import { waitUntil } from "./wait-until.ts";

const execute = promisify(execFile);

/** A project of a user's, in which the package is installed as npm packs it. */
export interface InstalledPackage {
  /** The project's own folder, empty but for a package.json. */
  readonly project: string;
  /** The package within `node_modules`. */
  readonly directory: string;
}

/**
 * Makes a project with the package in it, and links further packages of the repository. The package is built and packed once in
 * a run of the tests; all projects share it.
 */
export async function installPackage(packages: readonly string[] = []): Promise<InstalledPackage> {
  const folder = inject("packageFolder");
  const finished = join(folder, "packed.json");
  const first = await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
  if (first) await writeWhole(finished, { error: await pack(folder).then(() => null, String) });
  const text = await waitUntil("the package is packed", () => readFile(finished, "utf8").catch(() => null));
  const { error } = JSON.parse(text) as { error: string | null };
  if (error !== null) throw new Error(`The package can't be packed. ${error}`);

  const project = await mkdtemp(join(folder, "project-"));
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const name of packages) await link(name, project);
  return { project, directory: join(folder, "node_modules", manifest.name) };
}

/** Builds the package beside what else is published, lets npm pack it, and unpacks it with its dependencies beside it. */
async function pack(folder: string): Promise<void> {
  const staged = join(folder, "staged");
  const published = manifest.files.filter((name) => name !== "dist" && !name.startsWith("!"));
  for (const name of ["package.json", "README.md", "LICENSE", ...published]) {
    await cp(join(root, name), join(staged, name), { recursive: true });
  }
  await buildPackage(join(staged, "dist"));
  await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: staged });
  const installed = join(folder, "node_modules", manifest.name);
  await mkdir(installed, { recursive: true });
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`);
  await execute("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) await link(name, folder);
}

async function link(name: string, directory: string): Promise<void> {
  const path = join(directory, "node_modules", name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(join(root, "node_modules", name), path);
}

/** Readers see all of it, or nothing. */
async function writeWhole(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.part`, JSON.stringify(value));
  await rename(`${path}.part`, path);
}
