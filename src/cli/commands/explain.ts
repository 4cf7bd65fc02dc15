import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { safeText } from "../terminal/safe-text.ts";
import { showTimesIn } from "../terminal/times.ts";
import { parseReference, pathOf } from "./instance-reference.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";

/** Why something waits, as the HTTP API gives it. */
export interface WireExplanation {
  readonly sentence: string;
  readonly reason: Readonly<Record<string, unknown>>;
  readonly others: readonly Readonly<Record<string, unknown>>[];
  readonly clockAheadMs?: number;
}

export function addExplain(parent: Command, context: CommandContext): void {
  const command = parent
    .command("explain")
    .summary("says why an instance or a hook waits")
    .argument("<instance or hook>", "workflow/id, or the id of a hook");
  withTarget(withWatch(command)).action(async (text: string, flags: OutputFlags & TargetFlags) => {
    const path = text.includes("/") ? pathOf(parseReference(text), "explain") : ["hooks", text, "explain"];
    await using target = await openTarget(flags, context);
    await show(context, flags, () => target.get<WireExplanation>(path), drawExplanation);
  });
}

function drawExplanation({ sentence, others, clockAheadMs }: WireExplanation): string {
  const more = others.length === 0 ? [] : [`It waits for ${others.length} more at the same time: see --json.`];
  const clock = clockAheadMs === undefined ? [] : [`The clock here differs from the database's by ${clockAheadMs} ms.`];
  return [safeText(showTimesIn(sentence)), ...more, ...clock].join("\n");
}
