import type { ComponentChildren } from "preact";
import { path, query, seesPayloads } from "../data/api.ts";
import { count, duration, figure } from "../data/times.ts";
import type { Instance, Statistics, Unclaimed, Worker } from "../data/types.ts";
import { Card, Empty } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../shell/router.tsx";

interface Matter {
  readonly key: string;
  readonly tone: "bad" | "warns";
  readonly sentence: ComponentChildren;
  readonly to: string;
  readonly action: string;
}

interface AttentionProps {
  readonly statistics: Statistics;
  readonly workers: readonly Worker[] | null;
  readonly unclaimed: readonly Unclaimed[];
  /** The latest failures. */
  readonly failures: readonly Instance[];
}

/** Work that has been due for longer than this isn't merely in a queue. */
const LONG_DUE_MS = 60_000;

/** What won't repair itself: each with the reason and the screen on which an operator can act. */
export function Attention(props: AttentionProps) {
  const matters = findMatters(props);
  return (
    <Card title="Needs attention" tools={matters.length > 0 && <span class="badge">{matters.length}</span>}>
      {matters.length === 0 ? (
        <Empty title="All is well">Nothing is stuck, and no work waits for code that isn't running.</Empty>
      ) : (
        <ul class="matters">
          {matters.map(({ key, tone, sentence, to, action }) => (
            <li key={key} class={`tone-${tone}`}>
              <i aria-hidden="true" />
              <p>{sentence}</p>
              <Link to={to} class="button">
                {action}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function findMatters({ statistics, workers, unclaimed, failures }: AttentionProps): readonly Matter[] {
  const { hooks, instances, instanceQueue } = statistics;
  const total = instances?.total;
  const { diverged = 0, errored = 0, paused = 0 } = total ?? {};
  const sayMany = (status: "diverged" | "errored" | "paused", one: string, many: string) =>
    `${figure(total, status)} ${total?.[status] === 1 ? one : many}`;
  const crashed = failures.filter(({ error }) => error?.code === "workflow.crash_loop");
  const dueMs = instanceQueue?.oldestDueMs ?? 0;
  const found: (Matter | false)[] = [
    workers !== null &&
      !workers.some(({ alive }) => alive) && {
        key: "workers",
        tone: "bad",
        sentence: "No worker is alive: nothing runs until a process with a dispatcher starts.",
        to: "/workers",
        action: "See workers",
      },
    ...unclaimed.map(
      ({ kind, name, due, since }): Matter => ({
        key: `unclaimed ${kind} ${name}`,
        tone: "bad",
        sentence: (
          <>
            {plural(
              due,
              `${kind === "hook" ? "hook is" : "instance is"}`,
              `${kind === "hook" ? "hooks are" : "instances are"}`,
            )}{" "}
            due under the name <strong>{name}</strong>, since <Time at={since} />, and no live worker has code for it.
            Deploy the code, or remove what is left.
          </>
        ),
        to: kind === "hook" ? `/hooks${query({ name })}` : `/workflows${query({ workflow: name, status: "queued" })}`,
        action: "See them",
      }),
    ),
    crashed.length > 0 && {
      key: "crashes",
      tone: "bad",
      sentence: `${plural(crashed.length, "instance was", "instances were")} given up after a crash loop: each time that one ran, its process was lost.`,
      to: linkToCrashed(crashed),
      action: crashed.length === 1 ? "See it" : "See them",
    },
    dueMs > LONG_DUE_MS && {
      key: "due instances",
      tone: "warns",
      sentence: `An instance has been due for ${duration(dueMs)}, and ${count(instanceQueue?.due ?? 0)} are due in all: the queue grows, or no worker has a free slot.`,
      to: "/workflows?status=queued&order=oldest",
      action: "See the queue",
    },
    hooks !== undefined &&
      (hooks.oldestDueMs ?? 0) > LONG_DUE_MS && {
        key: "due",
        tone: "warns",
        sentence: `A hook has been due for ${duration(hooks.oldestDueMs ?? 0)}, and ${count(hooks.due)} are due in all: the queue grows, or no worker runs them.`,
        to: "/hooks?status=pending&order=oldest",
        action: "See the queue",
      },
    diverged > 0 && {
      key: "diverged",
      tone: "bad",
      sentence: `${sayMany("diverged", "instance is", "instances are")} held, because their code doesn't match their history. Deploy code that does, or restart them.`,
      to: "/workflows?status=diverged",
      action: "See them",
    },
    hooks !== undefined &&
      hooks.failed > 0 && {
        key: "dead",
        tone: "bad",
        sentence: `${plural(hooks.failed, "hook has", "hooks have")} failed for good. Redrive them when the cause is gone, or discard them.`,
        to: "/hooks?status=failed",
        action: "See dead letters",
      },
    errored > 0 && {
      key: "errored",
      tone: "warns",
      sentence: `${sayMany("errored", "instance has", "instances have")} failed. A retry repeats only the steps that failed.`,
      to: "/workflows?status=errored",
      action: "See failures",
    },
    paused > 0 && {
      key: "paused",
      tone: "warns",
      sentence: `${sayMany("paused", "instance is", "instances are")} paused until they are resumed.`,
      to: "/workflows?status=paused",
      action: "See them",
    },
  ];
  return found.filter((matter) => matter !== false);
}

/** They are found by their message, where the caller may search messages. */
function linkToCrashed(crashed: readonly Instance[]): string {
  const [first] = crashed;
  if (first !== undefined && crashed.length === 1) return `/workflows${path(first.workflowName, first.id)}`;
  return `/workflows${query({ status: "errored", error: seesPayloads() ? "lost with its process" : null })}`;
}

function plural(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
