import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRoutes } from "../../src/http/routes/index.ts";
import { compile } from "./support/compile.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const ENTRIES = {
  perdure: join(root, "src/index.ts"),
  "perdure/dashboard": join(root, "src/dashboard/index.ts"),
  "perdure/http": join(root, "src/http/index.ts"),
  "perdure/http/node": join(root, "src/http/node.ts"),
  "perdure/mcp": join(root, "src/mcp/index.ts"),
};

/** What the samples take for granted. */
const GIVEN = `
import * as library from "perdure";
export const token = "a-token-that-nobody-guesses";
export const userOf = async (_request: Request) =>
  null as { id: string; tenant: string; isAdmin: boolean; mayReadPayloads: boolean } | null;
export const isOperator = async (request: Request) => request.headers.has("cookie");
export const secret = "a secret of more than thirty-two characters";
export const authorize = () => true;
export const checkout = library.defineWorkflow({ name: "checkout" }, async () => {});
export declare const app: library.Application<{ }>;
export const perdure = library.perdure;
`;

let directory: string;
let text: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
  text = await readFile(join(root, "docs/http.md"), "utf8");
});

afterAll(() => rm(directory, { recursive: true, force: true }));

function toModule(sample: string): string {
  const imports = sample.match(/^import .*$/gm) ?? [];
  const body = sample.replaceAll(/^import .*$/gm, "");
  const app = /(using|const) app =/.test(body) ? "" : "app, ";
  return [
    ...imports,
    `import { ${app}authorize, checkout, isOperator, perdure, secret, token, userOf } from "./given.ts";`,
    "export async function sample() {",
    body,
    "}",
  ].join("\n");
}

test("every sample in the documents on HTTP, security, the dashboard and MCP is accepted by the compiler", async () => {
  const others = ["docs/security.md", "docs/dashboard.md", "docs/mcp.md"].map((path) =>
    readFile(join(root, path), "utf8"),
  );
  const all = text + (await Promise.all(others)).join("");
  const samples = Array.from(all.matchAll(/```ts\n([\s\S]*?)```/g), ([, sample]) => sample as string);
  expect(samples.length).toBeGreaterThan(1);
  await writeFile(join(directory, "given.ts"), GIVEN);
  for (const [index, sample] of samples.entries()) {
    await writeFile(join(directory, `sample-${index + 1}.ts`), toModule(sample));
  }
  expect(await compile(directory, ENTRIES)).toBe("");
});

test("every route is in the table of docs/http.md, with its permission, and no other is", () => {
  const lines = text.split("\n").filter((line) => /^\| `(GET|POST|DELETE) /.test(line));
  const documented = lines.flatMap((line) => {
    const [, routes = "", permission = "", description = ""] = line.split("|").map((cell) => cell.trim());
    const listed = Array.from(routes.matchAll(/`(\w+) ([^`]+)`/g), ([, method, path]) => `${method} ${path}`);
    const [first = ""] = listed;
    const siblings = description.startsWith("and ")
      ? Array.from(description.matchAll(/`(\/\w+)`/g), ([, verb]) => verb)
      : [];
    const others = siblings.map((verb) => first.replace(/\/\w+$/, verb as string));
    return [...listed, ...others].map((route) => `${route.replaceAll(/\{\w+\}/g, "{}")} ${permission}`);
  });
  const served = createRoutes({ basePath: "", tick: true }).map(
    ({ method, path, operation }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")} ${operation}`,
  );

  expect(documented.toSorted()).toEqual(served.toSorted());
});
