import { change, may, path } from "../data/api.ts";
import { absolute, duration, now, relative } from "../data/times.ts";
import type { Entry, Instance } from "../data/types.ts";
import { Card, Facts } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { FullTime } from "../parts/time.tsx";
import { FailureView, UnreadableNote, Value } from "../parts/value.tsx";
import { ask } from "../shell/dialogs.tsx";
import { Link } from "../shell/router.tsx";
import type { Step } from "./steps.ts";

const TYPES: Readonly<Record<string, string>> = {
  do: "step",
  sleep: "sleep",
  waitForEvent: "wait for an event",
  create: "creates an instance",
  result: "waits for a child",
  token: "waits for a token",
  rollback: "rollback of the run",
};

const RESTARTABLE: readonly string[] = ["do", "sleep", "waitForEvent", "result"];

interface DetailProps {
  readonly step: Step;
  readonly instance: Instance;
  /** Whether it is a step of the present run. */
  readonly current: boolean;
  readonly onClose: () => void;
}

/** Everything that the journal has about a step. */
export function StepDetail({ step, instance, current, onClose }: DetailProps) {
  const { title, type, count, state, from, to, entries, child } = step;
  const output = entries.find((entry) => "output" in entry && entry.kind === "completed");
  const received = entries.find((entry) => entry.event !== undefined);
  const progress = entries.filter((entry) => "progress" in entry).at(-1);
  const unreadable = entries.find((entry) => entry.unreadable !== undefined)?.unreadable;
  const awaits = entries.find((entry) => entry.awaits !== undefined);
  return (
    <Card
      class="detail"
      title={
        <>
          {title} {count > 1 && <small class="faint">#{count}</small>}
        </>
      }
      tools={
        <span class="row-buttons">
          {current && may("manage") && RESTARTABLE.includes(type) && step.depth === 0 && (
            <button type="button" class="button small danger" onClick={() => restartFrom(instance, step)}>
              Restart from here
            </button>
          )}
          <button type="button" class="button small" onClick={onClose}>
            Close
          </button>
        </span>
      }
    >
      <Facts
        of={[
          ["Kind", TYPES[type] ?? type],
          ["State", <Status key="state" of={state} />],
          ["Began", step.segments[0]?.soft ? `after ${absolute(from)}` : absolute(from)],
          ["Took", duration(to - from)],
          ...(awaits === undefined ? [] : [["Waits for", awaits.awaits ?? ""] as const]),
          ...(awaits?.dueAt === undefined ? [] : [["Until", <FullTime key="due" at={awaits.dueAt} />] as const]),
          ...(child === null
            ? []
            : [
                [
                  "Instance",
                  <Link key="child" to={`/workflows${path(child.workflowName, child.id)}`}>
                    {child.workflowName} {child.id}
                  </Link>,
                ] as const,
              ]),
        ]}
      />
      {unreadable !== undefined && <UnreadableNote of={unreadable} />}
      <Attempts entries={entries.filter(({ error }) => error !== undefined)} />
      {progress !== undefined && (
        <>
          <h3>Progress</h3>
          <Value of={progress.progress} label="progress" />
        </>
      )}
      {received?.event !== undefined && (
        <>
          <h3>Event “{received.event.type}”</h3>
          <Value of={received.event.payload} label="payload" />
        </>
      )}
      {output !== undefined && (
        <>
          <h3>Output</h3>
          <Value of={output.output} label="output" />
        </>
      )}
    </Card>
  );
}

function Attempts({ entries }: { readonly entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <ol class="attempts">
      {entries.map(({ position, attempt, kind, at, dueAt, error }) => (
        <li key={position}>
          <header>
            <strong>{kind.startsWith("roll") ? "Rollback" : `Attempt ${attempt ?? 1}`}</strong>
            <FullTime at={at} />
          </header>
          {error !== undefined && <FailureView of={error} />}
          {dueAt !== undefined && <NextAttempt failedAt={Date.parse(at)} dueAt={Date.parse(dueAt)} />}
        </li>
      ))}
    </ol>
  );
}

function NextAttempt({ failedAt, dueAt }: { readonly failedAt: number; readonly dueAt: number }) {
  const tense = dueAt > now.value ? "is" : "was";
  return (
    <p class="muted" title={absolute(dueAt)}>
      The next attempt {tense} due {duration(dueAt - failedAt)} later
      {dueAt > now.value && `, ${relative(dueAt, now.value)}`}.
    </p>
  );
}

function restartFrom({ workflowName, id }: Instance, { name, count, type }: Step): void {
  ask({
    title: `Restart from “${name}”?`,
    text: "A new run begins. Steps that ended before this one keep their results; this one and all after it run again.",
    action: "Restart from here",
    danger: true,
    act: async () => {
      await change(
        `/workflows${path(workflowName)}/instances${path(id)}/restart`,
        { from: { name, count, type } },
        { key: crypto.randomUUID() },
      );
      return "A new run has begun.";
    },
  });
}
