import { runSuite } from "../harness/suite.ts";
import { CONTENDERS, VARIANTS } from "./contenders.ts";
import { FULL, SHORT } from "./scale.ts";
import { WORKS } from "./works.ts";

export function runWorkflowsSuite(argv: string[]): Promise<boolean> {
  return runSuite(
    { name: "workflows", contenders: CONTENDERS, variants: VARIANTS, works: WORKS, full: FULL, short: SHORT },
    argv,
  );
}
