import type { Answer, Call } from "./answer.ts";
import { Driver } from "./driver.ts";
import type { Program } from "./program.ts";

/** An engine that programs run on. */
export interface Runner {
  ask(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** Runs a program to its end, and gives what it came to. */
export async function runProgram(runner: Runner, program: Program): Promise<object> {
  const driver = new Driver((call) => runner.ask(call), program.name);
  if (program.drive !== undefined) return program.drive(driver);
  const instance = await driver.create();
  for (const event of program.events ?? []) await instance.does("sendEvent", event);
  return instance.ended();
}
