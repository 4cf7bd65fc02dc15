import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { runCommand } from "./support/run-command.ts";

async function scriptFor(shell: string): Promise<string> {
  const { code, out } = await runCommand(["completion", shell]);
  expect(code).toBe(0);
  return out;
}

test.each(["bash", "zsh", "fish"])(
  "the completion script for %s knows the commands and their options",
  async (shell) => {
    const script = await scriptFor(shell);

    for (const word of ["workflows", "redrive", "strict", "doctor", "waitingForPause"]) expect(script).toContain(word);
    expect(script).not.toContain("dev-worker");
  },
);

test("bash completes commands, their options and the values of these, and leaves files to itself", async () => {
  const script = await scriptFor("bash");
  const complete = (...typed: readonly string[]) => {
    const words = ["perdure", ...typed].map((word) => `'${word}'`).join(" ");
    const call = `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _perdure; echo "\${COMPREPLY[*]}"`;
    return execFileSync("bash", ["--norc", "-c", `${script}\n${call}`], { encoding: "utf8" }).trim();
  };

  expect(complete("wo")).toBe("workflows workers");
  expect(complete("schedules", "")).toBe("list show pause resume run");
  expect(complete("workflows", "list", "--st")).toBe("--status --step");
  expect(complete("hooks", "list", "--status", "")).toBe("pending processing failed completed");
  expect(complete("workflows", "list", "--status", "e")).toBe("errored");
  expect(complete("--no-color", "doctor", "--stri")).toBe("--strict");
  expect(complete("workflows", "list", "-d", "")).toBe("");
  expect(complete("workflows", "show", "list", "--ru")).toBe("--run");
});

test("the script for zsh declares no name that zsh gives a meaning", async () => {
  const script = await scriptFor("zsh");
  const declared = [...script.matchAll(/^ *local (?:-a )?(.*)$/gm)].flatMap(([, names = ""]) =>
    names.split(" ").map((name) => name.split("=")[0]),
  );

  expect(declared).toContain("candidates");
  for (const name of ["path", "words", "status", "commands", "options"]) expect(declared).not.toContain(name);
});
