import { runSuite } from "../harness/suite.ts";
import { CONTENDERS, VARIANTS } from "./contenders.ts";
import { FULL, SHORT } from "./scale.ts";
import { WORKS } from "./works.ts";

export function runHooksSuite(argv: string[]): Promise<boolean> {
  return runSuite(
    { name: "hooks", contenders: CONTENDERS, variants: VARIANTS, works: WORKS, full: FULL, short: SHORT },
    argv,
  );
}
