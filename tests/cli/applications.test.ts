import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { samplesOf } from "../docs/support/samples.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Program, runInPipe, runInTerminal } from "./support/program.ts";
import { runCommand } from "./support/run-command.ts";

const TOKEN = "a-token-for-the-server";
const directory = mkdtempSync(join(tmpdir(), "perdure-applications-"));
const running: Program[] = [];

afterEach(() => {
  for (const program of running.splice(0)) program.kill("SIGKILL");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function keep(program: Program): Program {
  running.push(program);
  return program;
}

/** A project in which the package is installed. */
function createProject(name: string): string {
  const project = join(directory, name);
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(root, join(project, "node_modules/perdure"));
  return project;
}

test("perdure start runs the application of docs/cli.md, serves it, and stops in order", async () => {
  const cwd = createProject("start");
  const [sample = ""] = samplesOf("docs/cli.md");
  writeFileSync(join(cwd, "app.ts"), sample);
  const program = keep(runInPipe(["start", "--port", "0"], { cwd, env: { PERDURE_TOKEN: TOKEN } }));
  const [, url = ""] = await program.says(/serves (http:\S+)/);
  const env = { PERDURE_SERVER: url, PERDURE_TOKEN: TOKEN };

  const created = await runCommand(["workflows", "create", "greeting", "--id", "one", "--wait"], { env });
  expect(created).toMatchObject({ code: 0, out: "'Hello!'\n" });
  expect((await runCommand(["doctor"], { env })).code).toBe(0);
  expect(
    (await runCommand(["workflows", "list"], { env: { ...env, PERDURE_TOKEN: "another-token-that-is-wrong" } })).code,
  ).toBe(7);
  program.kill("SIGTERM");
  expect(await program.ended).toBe(0);
  expect(program.output()).toMatch(/perdure is stopping/);
  expect(program.output()).not.toContain(TOKEN);
});

test("perdure init writes a project that perdure dev runs, with a dashboard for the holder of the link", async () => {
  const cwd = createProject("dev");
  expect((await runCommand(["init", cwd, "--yes"])).code).toBe(0);
  const again = await runCommand(["init", cwd, "--yes"]);
  expect(again).toMatchObject({ code: 5, err: expect.stringContaining("nothing was written") });
  const program = keep(runInTerminal(["dev", "--port", "0"], { cwd }));
  const [, link = ""] = await program.says(/Dashboard: .*?(http:[\w.:/?=-]+)/);
  const { origin } = new URL(link);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { headers, redirect: "manual" });

  expect((await ask("/dashboard/")).status).toBe(401);
  const first = await fetch(link, { redirect: "manual" });
  expect([first.status, first.headers.get("location")]).toEqual([303, "/dashboard/"]);
  const [given = ""] = first.headers.getSetCookie();
  expect(given).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  const cookie = given.slice(0, given.indexOf(";"));
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401);
  const workflows = async () => (await ask("/dashboard/api/workflows", { cookie })).text();
  expect(await workflows()).toContain("greeting");
  const other = await runCommand(["open"], { directory: cwd });
  expect((await fetch(other.out.trim(), { redirect: "manual" })).status).toBe(303);

  const before = program.output().length;
  appendFileSync(join(cwd, "app.ts"), "\n// changed\n");
  await program.says(/app\.ts has changed/, before);
  await waitUntil("the browser is still let in", () =>
    workflows().then(
      (text) => text.includes("greeting"),
      () => false,
    ),
  );

  const lib = program.output().length;
  mkdirSync(join(cwd, "lib/orders"), { recursive: true });
  writeFileSync(join(cwd, "lib/orders/total.ts"), "export const total: number = ;");
  await program.says(/total\.ts has changed/, lib);
  await program.says(/The application runs again/, lib);
  writeFileSync(join(cwd, "app.ts"), `import "./lib/orders/total.ts";\n`);
  await program.says(/app\.ts can't be loaded\.\s+\S+lib\/orders\/total\.ts:1/, lib);

  program.type("\u0003");
  expect(await program.ended).toBe(0);
  expect(existsSync(join(cwd, ".perdure/dev.json"))).toBe(false);
  expect((await runCommand(["open"], { directory: cwd })).code).toBe(6);
});

test("an old Node gets a message that says which one is needed", async () => {
  const older = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})';
  const program = keep(
    runInPipe(["--version"], { cwd: directory, node: ["--import", `data:text/javascript,${older}`] }),
  );

  expect(await program.ended).toBe(1);
  expect(program.output()).toContain("perdure needs Node 22.13 or newer, and not 23; this is Node 20.1.0.");
  expect(readFileSync(join(root, "src/cli/perdure.ts"), "utf8")).not.toMatch(/^import /m);
});

test("a module that throws an error is named with the place in its code", async () => {
  const cwd = createProject("broken");
  writeFileSync(join(cwd, "app.mjs"), "const options = null;\nexport default options.database;\n");
  const program = keep(runInPipe(["start"], { cwd }));

  expect(await program.ended).toBe(1);
  expect(program.output()).toMatch(
    /app\.mjs can't be loaded\.\nTypeError: Cannot read .*null.*\n +at file:.*app\.mjs:2:\d+\n$/,
  );
});
