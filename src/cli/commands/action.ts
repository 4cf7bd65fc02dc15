import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { describeFailure, type Failure } from "../failures.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { safeText } from "../terminal/safe-text.ts";

/** What became of one item. */
export interface ItemOutcome {
  readonly target: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly message?: string;
}

/** How many items are acted on at a time. */
const AT_ONCE = 8;
/** Progress is shown from this many items on. */
const MANY = 20;
/** How many failures are printed; programs get all of them. */
const MOST_TOLD = 20;

export interface Work<Item> {
  /** In the past: `paused`. */
  readonly done: string;
  readonly items: readonly Item[];
  readonly name: (item: Item) => string;
  readonly act: (item: Item) => Promise<void>;
  readonly json: boolean;
}

/** Acts on all items, and reports each that failed. One that fails doesn't stop the others. */
export async function actOnAll<Item>(context: CommandContext, work: Work<Item>): Promise<void> {
  const { terminal, signal } = context;
  const { items, name, act, done, json } = work;
  const outcomes: ItemOutcome[] = [];
  const failures: Failure[] = [];
  const bar = new ProgressBar(terminal, `${done}:`, items.length);
  const queue = items.values();
  const run = async () => {
    for (const item of queue) {
      if (signal.aborted) return;
      const failure = await act(item).then(() => null, describeFailure);
      if (failure !== null) failures.push(failure);
      const reason = failure === null ? {} : { code: failure.code, message: failure.message };
      outcomes.push({ target: name(item), ok: failure === null, ...reason });
      if (items.length >= MANY) bar.advance();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  if (items.length >= MANY) bar.end();
  if (json) terminal.printJson({ outcomes });
  else report(context, done, outcomes);
  const [first] = failures;
  if (first === undefined) return;
  if (first.next !== null && !json) terminal.note(first.next);
  context.exitWith(failures.length === items.length ? first.exitCode : ExitCode.partly);
}

function report({ terminal }: CommandContext, done: string, outcomes: readonly ItemOutcome[]): void {
  const { ok, failed } = terminal.symbols;
  const well = outcomes.filter((one) => one.ok);
  const badly = outcomes.filter((one) => !one.ok);
  for (const { target, message = "", code } of badly.slice(0, MOST_TOLD)) {
    terminal.noteStyled("red", `${failed} ${safeText(target)}: ${safeText(message)} (${code})`);
  }
  if (badly.length > MOST_TOLD) {
    terminal.noteStyled("red", `${failed} ${badly.length - MOST_TOLD} others: see them with --json`);
  }
  if (well.length < MANY) {
    for (const { target } of well) terminal.print(`${terminal.style("green", ok)} ${safeText(target)} ${done}`);
    return;
  }
  terminal.print(`${terminal.style("green", ok)} ${well.length} ${done}, ${badly.length} failed`);
}
