import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

const WORKFLOWS = `
import { defineWorkflow, type WorkflowEvent } from "perdure";
export const checkout = defineWorkflow({ name: "checkout" }, async (event: WorkflowEvent<{ total: number }>) => event.payload.total);
`;

test("the sample in docs/client.md is accepted by the compiler, and imports nothing but types of the server", async () => {
  const text = await readFile(join(root, "docs/client.md"), "utf8");
  const [sample] = Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), ([, code]) => code as string);
  const directory = await mkdtemp(join(root, "tests/docs/samples-"));
  try {
    await writeFile(join(directory, "workflows.ts"), WORKFLOWS);
    const given = 'import type { TypedBindings } from "perdure";\ndeclare const token: string;\n';
    await writeFile(join(directory, "sample.ts"), `${given}${sample}`);
    const paths = { perdure: [join(root, "src/index.ts")], "perdure/client": [join(root, "src/client/index.ts")] };
    const configuration = {
      extends: "../../../tsconfig.json",
      compilerOptions: { paths },
      include: ["*.ts"],
      exclude: [],
    };
    await writeFile(join(directory, "tsconfig.json"), JSON.stringify(configuration));
    const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
    const { stdout } = await execute(process.execPath, [compiler, "-p", directory]).catch((error) => error);
    expect(stdout).toBe("");
    // As it would be bundled for a browser, with each import that isn't one of types.
    const { metafile } = await build({
      entryPoints: [join(directory, "sample.ts")],
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      alias: { "perdure/client": paths["perdure/client"][0] as string },
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    });
    expect(Object.keys(metafile.inputs).filter((path) => path.endsWith("/workflows.ts"))).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
