import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const execute = promisify(execFile);

/**
 * What the compiler says of the TypeScript files in a folder that import the package's entry points: nothing, if it accepts
 * them.
 */
export async function compile(directory: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const configuration = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, [path]])),
    },
    include: ["*.ts", join(root, "src/dashboard/page.d.ts")],
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(configuration));
  const { stdout } = await execute(join(root, "node_modules/.bin/tsc"), ["-p", directory]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}
