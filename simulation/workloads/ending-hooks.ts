import { defineHook } from "../../src/hooks/define-hook.ts";
import type { HookContext } from "../../src/hooks/hook-context.ts";
import type { TerminalHooks } from "../../src/workflows/define/terminal-hooks.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { DEFAULT_HOOK_LIMIT } from "../names.ts";
import { handle } from "./handlers.ts";

/** What one process does at the end of a run: the same as for any other hook, after a check of the payload. */
export function createEndingHooks(process: () => SimulatedProcess): TerminalHooks {
  const hook = <Event>() =>
    defineHook({ retries: { limit: DEFAULT_HOOK_LIMIT, delay: 1000 } }, (event: Event, context: HookContext) => {
      const { endings } = process().surroundings.instances;
      return handle(process(), endings.begins(context.hookId, event), context);
    });
  return { onCompleted: hook(), onErrored: hook(), onTerminated: hook() };
}
