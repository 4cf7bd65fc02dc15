import type { Work } from "../harness/work.ts";
import type { HookContender } from "./contender.ts";
import type { Scale } from "./scale.ts";

export type HookWork = Work<HookContender, Scale>;
