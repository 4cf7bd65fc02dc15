import type { Command } from "commander";
import { pause, systemClock } from "../../clock.ts";
import type { WorkflowInstanceEvent } from "../../workflows/views/instance-event.ts";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { safeText } from "../terminal/safe-text.ts";
import type { Style, Terminal } from "../terminal/terminal.ts";
import { showClock, showSpan } from "../terminal/times.ts";
import type { FilterFlags } from "./instance-filter.ts";
import { type FilterQuery, toQuery, withFilter } from "./instance-filter.ts";
import { readPage, type WireInstance } from "./instance-list.ts";
import { type InstanceReference, parseReference, showReference } from "./instance-reference.ts";
import { withJson } from "./output.ts";

interface Flags extends TargetFlags, FilterFlags {
  readonly json?: boolean;
  readonly fromStart?: boolean;
}

export type TellEvent = (reference: InstanceReference, event: WorkflowInstanceEvent) => void;

/** How often new instances are looked for. */
const LOOK_MS = 500;
/** Subscriptions that are open at a time. Each holds a connection to a server. */
const MOST_FOLLOWED = 50;

export function addTail(program: Command, context: CommandContext): void {
  const command = program
    .command("tail")
    .summary("follows the events of an instance, or of all that begin or run from now on")
    .argument("[instance]", "as workflow/id; default: all that match")
    .option("--workflow <name>", "only of this workflow")
    .option("--from-start", "of one instance: from the beginning of its run");
  withTarget(withJson(withFilter(command))).action(async (text: string | undefined, flags: Flags) => {
    const { terminal, signal } = context;
    const tell: TellEvent = flags.json
      ? (reference, event) => terminal.printJson({ ...reference, ...event })
      : tellPeople(terminal);
    await using target = await openTarget(flags, context);
    terminal.note(`Follows ${text ?? "what runs and what begins"} in ${target.address}. Stop with Ctrl-C.`);
    if (text !== undefined) {
      const reference = parseReference(text);
      const { finishedAt } = await (await target.workflow(reference.workflowName).get(reference.id)).status();
      const since = flags.fromStart || finishedAt !== null ? 0 : Date.now();
      await followOne({ target, tell, signal, since }, reference);
    } else await followAll({ target, tell, signal, since: Date.now() }, flags.workflow, toQuery(flags));
  });
}

export interface Following {
  readonly target: Target;
  readonly tell: TellEvent;
  readonly signal: AbortSignal;
  /** Earlier events aren't printed. */
  readonly since: number;
}

async function followOne({ target, tell, signal, since }: Following, reference: InstanceReference): Promise<void> {
  const instance = await target.workflow(reference.workflowName).get(reference.id);
  const events = await instance.subscribe();
  const stop = () => void events.return();
  signal.addEventListener("abort", stop);
  try {
    for await (const event of events) if (event.timestamp >= since) tell(reference, event as WorkflowInstanceEvent);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Follows what runs, and what is created from now on. If there is more than can be followed, the oldest are left out. */
export async function followAll(following: Following, workflow: string | undefined, query: FilterQuery): Promise<void> {
  const { target, signal, since } = following;
  const followed = new Map<string, number>();
  const open = new Set<string>();
  const failures: unknown[] = [];
  const follow = (instance: WireInstance) => {
    const key = showReference(instance);
    if (followed.get(key) === instance.run || open.size >= MOST_FOLLOWED) return;
    followed.set(key, instance.run);
    open.add(key);
    const ended = () => open.delete(key);
    followOne(following, instance).then(ended, (error: unknown) => {
      ended();
      failures.push(error);
    });
  };
  while (!signal.aborted) {
    const { instances } = await readPage(target, workflow, { ...query, limit: "200" });
    for (const instance of instances.toReversed()) {
      const ended = instance.finishedAt !== null && new Date(instance.finishedAt).getTime() < since;
      if (!ended) follow(instance);
    }
    const listed = new Set(instances.map(showReference));
    for (const key of followed.keys()) if (!(listed.has(key) || open.has(key))) followed.delete(key);
    failures.length = 0; // an instance that was deleted meanwhile, or a connection that the next round makes again
    await pause(systemClock, LOOK_MS, signal);
  }
}

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/errored|timed_out/, "red"],
  [/terminated|paused|pause|abandoned/, "yellow"],
  [/workflow_completed/, "green"],
  [/started|queued|running|waiting/, "dim"],
];

/** They say nothing that a reader of lines misses. Programs get all events. */
const QUIET: readonly string[] = ["workflow_queued", "workflow_running", "attempt_started", "attempt_completed"];

export function tellPeople(terminal: Terminal): TellEvent {
  return (reference, event) => {
    if (!QUIET.includes(event.type)) terminal.print(drawEvent(terminal, reference, event));
  };
}

/** One line: the time, the instance, what happened, and to which step. */
function drawEvent(terminal: Terminal, reference: InstanceReference, event: WorkflowInstanceEvent): string {
  const { type, timestamp } = event;
  const [, style = null] = STYLES.find(([pattern]) => pattern.test(type)) ?? [];
  const what = type.replaceAll("_", " ").replace(/^workflow /, "");
  const details = describeEvent(event);
  const shown = style === null ? what : terminal.style(style, what);
  const time = terminal.style("dim", showClock(new Date(timestamp)));
  return `${time}  ${terminal.style("cyan", safeText(showReference(reference)))}  ${shown}${details && `  ${safeText(details)}`}`;
}

function describeEvent(event: WorkflowInstanceEvent): string {
  const parts: string[] = [];
  if ("stepName" in event) parts.push(event.count > 1 ? `${event.stepName}#${event.count}` : event.stepName);
  if ("attempt" in event && event.attempt > 1) parts.push(`attempt ${event.attempt}`);
  if ("durationMs" in event) parts.push(showSpan(event.durationMs));
  if ("eventType" in event) parts.push(event.eventType);
  if ("error" in event) parts.push(`${event.error.name}: ${event.error.message}`);
  if ("retryDelayMs" in event && event.retryDelayMs !== undefined)
    parts.push(`again in ${showSpan(event.retryDelayMs)}`);
  return parts.join("  ");
}
