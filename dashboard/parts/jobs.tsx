import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, change, may, path } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { count } from "../data/times.ts";
import { ask, messageOf, perform } from "../shell/dialogs.tsx";
import { search, setSearch } from "../shell/router.tsx";

/** What a job can be for: all instances, or all hooks, that match a filter. */
export interface JobTarget {
  readonly what: "instances" | "hooks";
  readonly filter: Readonly<Record<string, unknown>>;
}

export interface JobAction {
  readonly action: string;
  readonly name: string;
  /** What becomes of those that match. */
  readonly effect: string;
  /** Whether it can't be undone. */
  readonly danger: boolean;
}

interface Job {
  readonly id: string;
  readonly action: string;
  readonly target: JobTarget["what"];
  readonly state: "running" | "finished" | "cancelled";
  readonly matching: number;
  readonly bounded: boolean;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly { readonly instanceId: string; readonly message: string }[];
}

interface Matching {
  readonly matching: number;
  /** Whether it was only counted so far. */
  readonly bounded: boolean;
}

/** What matches, without doing anything. */
function dryRun(action: string, { what, filter }: JobTarget): Promise<Matching> {
  return change<Matching>("/jobs", { action, [what]: filter, dryRun: true });
}

function many({ matching, bounded }: Matching, what: JobTarget["what"]): string {
  const noun = matching === 1 && !bounded ? what.slice(0, -1) : what;
  return `${bounded ? "at least " : ""}${count(matching)} ${noun}`;
}

/** Asks which action, shows what it would be done to, and starts the job. The page then shows how far it is. */
export function actOnAll(target: JobTarget, actions: readonly JobAction[]): void {
  const [only] = actions;
  const danger = signal(only?.danger ?? false);
  ask({
    title: actions.length === 1 && only !== undefined ? `${only.name}?` : `Act on all ${target.what} that match?`,
    action: actions.length === 1 && only !== undefined ? only.name : "Start",
    danger,
    fields: <ActionFields target={target} actions={actions} danger={danger} />,
    act: async (form) => {
      const action = String(form.get("action"));
      const matching = Number(form.get("matching") ?? Number.NaN);
      if (Number.isNaN(matching)) throw new ApiError(0, "uncounted", "Wait until it is known how many match.");
      if (matching === 0) throw new ApiError(0, "none", "Nothing matches.");
      const options = form.get("rollback") === null ? {} : { options: { rollback: true } };
      const request = { action, [target.what]: target.filter, ...options };
      const job = await change<Job>("/jobs", request, { key: crypto.randomUUID() });
      setSearch({ job: job.id });
      return undefined;
    },
  });
}

interface ActionFieldsProps {
  readonly target: JobTarget;
  readonly actions: readonly JobAction[];
  /** Is told of the chosen action. */
  readonly danger: Signal<boolean>;
}

function ActionFields({ target, actions, danger }: ActionFieldsProps) {
  const chosen = useSignal(actions[0]?.action ?? "");
  const matching = useSignal<Matching | null>(null);
  const problem = useSignal<string | null>(null);
  useEffect(() => {
    let gone = false;
    matching.value = null;
    problem.value = null;
    dryRun(chosen.value, target).then(
      (found) => {
        if (!gone) matching.value = found;
      },
      (error) => {
        if (!gone) problem.value = messageOf(error);
      },
    );
    return () => {
      gone = true;
    };
  }, [chosen.value]);
  const action = actions.find((one) => one.action === chosen.value);
  const choose = (name: string) => {
    chosen.value = name;
    danger.value = actions.find((one) => one.action === name)?.danger ?? false;
  };
  return (
    <>
      {actions.length > 1 ? (
        <label class="field">
          <span>Action</span>
          <select name="action" value={chosen.value} onChange={(event) => choose(event.currentTarget.value)}>
            {actions.map(({ action: one, name }) => (
              <option key={one} value={one} selected={one === chosen.value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <input type="hidden" name="action" value={chosen.value} />
      )}
      {chosen.value === "terminate" && (
        <label class="check">
          <input type="checkbox" name="rollback" /> Roll back the steps that have begun
        </label>
      )}
      <p class="notice" role="status">
        {problem.value ??
          (matching.value === null
            ? "Counting what matches …"
            : `It would be done to ${many(matching.value, target.what)}. ${action?.effect ?? ""}`)}
      </p>
      {matching.value !== null && <input type="hidden" name="matching" value={matching.value.matching} />}
    </>
  );
}

/** How many match the filter of a list. It is counted when the viewer asks: a filter may need a search. */
export function CountOf({
  target,
  shown,
  all,
}: {
  readonly target: JobTarget;
  readonly shown: number;
  readonly all: boolean;
}) {
  const counted = useSignal<string | null>(null);
  const filter = JSON.stringify(target.filter);
  useEffect(() => {
    counted.value = null;
  }, [filter]);
  if (all) return <p class="muted">{many({ matching: shown, bounded: false }, target.what)}</p>;
  if (counted.value !== null) return <p class="muted">{counted.value}</p>;
  if (!may("manage")) return <p class="muted">More than one page</p>;
  const find = async () => {
    counted.value = "Counting …";
    const found = dryRun(target.what === "instances" ? "delete" : "discard", target);
    counted.value = await found.then((one) => many(one, target.what), messageOf);
  };
  return (
    <p class="muted">
      More than one page.{" "}
      <button type="button" class="more" onClick={() => void find()}>
        Count them
      </button>
    </p>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  pause: "Pause",
  resume: "Resume",
  terminate: "Terminate",
  restart: "Restart",
  retry: "Retry",
  delete: "Delete",
  redrive: "Redrive",
  discard: "Discard",
  cancel: "Cancel",
};

/** The job that the URL names, and how far it is. */
export function JobProgress() {
  const id = search.value.get("job");
  return id === null ? null : <Progress key={id} id={id} />;
}

function Progress({ id }: { readonly id: string }) {
  const { data: job, error } = useResource<Job>(`/jobs${path(id)}`);
  const close = () => setSearch({ job: null }, { replace: true });
  if (job === null && error === null) return null;
  if (job === null) {
    return (
      <section class="bulk" aria-label="Job">
        <span>{error?.message}</span>
        <Close onClick={close} />
      </section>
    );
  }
  const { action, state, matching, done, skipped, failed, errors } = job;
  const name = WORDS[action] ?? action;
  const words = [
    `${count(done)} done`,
    ...(skipped > 0 ? [`${count(skipped)} had changed`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
  ].join(", ");
  return (
    <section class="bulk" aria-label="Job">
      <strong>{name}</strong>
      {state === "running" ? (
        <>
          <progress max={Math.max(matching, 1)} value={done + skipped + failed} aria-label={`Progress of ${name}`} />
          <span class="number">
            {words} of {many(job, job.target)}
          </span>
          {may("manage") && (
            <button
              type="button"
              class="button small"
              onClick={() => void perform("The job is stopped.", () => change(`/jobs${path(id)}/cancel`))}
            >
              Stop
            </button>
          )}
        </>
      ) : (
        <span role="status">
          {state === "cancelled" ? "Stopped: " : ""}
          {words}.
        </span>
      )}
      {errors[0] !== undefined && (
        <small class="one-line">
          {errors[0].instanceId}: {errors[0].message}
        </small>
      )}
      {state !== "running" && <Close onClick={close} />}
    </section>
  );
}

function Close({ onClick }: { readonly onClick: () => void }) {
  return (
    <button type="button" class="button small" onClick={onClick}>
      Close
    </button>
  );
}
