import { path } from "../data/api.ts";
import { describeCron } from "../data/cron.ts";
import { shownKey } from "../data/lines.ts";
import { useResource } from "../data/live.ts";
import type { EarlierRun, Explanation, Instance } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { Card, Facts, Loaded, Page } from "../parts/page.tsx";
import { Status, wordOf } from "../parts/status.tsx";
import { FullTime, Took, WithTimes } from "../parts/time.tsx";
import { FailureView, UnreadableNote, Value } from "../parts/value.tsx";
import { Link, search, setSearch } from "../shell/router.tsx";
import { Inputs } from "./inputs.tsx";
import { InstanceActions } from "./instance-actions.tsx";
import { RunSteps } from "./run-steps.tsx";
import { useEvents, useHistory } from "./use-history.ts";

/** One instance: why it waits, its steps over time, and everything about the selected one. */
export function InstancePage({ workflowName, id }: { readonly workflowName: string; readonly id: string }) {
  const url = `/workflows${path(workflowName)}/instances${path(id)}`;
  const found = useResource<Instance>(`${url}?details=false`);
  const { data: explanation } = useResource<Explanation>(`${url}/explain`);
  const instance = found.data;
  useEvents(workflowName, id, instance !== null && instance.finishedAt === null);
  return (
    <Page
      title={id}
      heading={
        <>
          <Link to={`/workflows?workflow=${encodeURIComponent(workflowName)}`} class="crumb">
            {workflowName}
          </Link>
          <span class="instance-id">{id}</span> <Copy text={id} what="id" />
        </>
      }
      actions={instance !== null && <InstanceActions instance={instance} explanation={explanation} />}
    >
      {explanation !== null && <Sentence explanation={explanation} />}
      <Loaded from={found}>{(one) => <InstanceView instance={one} explanation={explanation} />}</Loaded>
    </Page>
  );
}

/** The reasons and statuses that are bad news, and good news. */
const TONES: Readonly<Record<string, string>> = {
  diverged: "bad",
  unreadable: "bad",
  noWorker: "bad",
  noDispatcher: "bad",
  errored: "bad",
  complete: "good",
};

function Sentence({ explanation: { sentence, reason } }: { readonly explanation: Explanation }) {
  const tone = TONES[reason.reason] ?? TONES[String(reason["status"])] ?? "";
  return (
    <p class={`sentence ${tone}`}>
      <WithTimes text={sentence} />
    </p>
  );
}

interface ViewProps {
  readonly instance: Instance;
  readonly explanation: Explanation | null;
}

function InstanceView({ instance, explanation }: ViewProps) {
  const chosen = Number(search.value.get("run")) || instance.run;
  const over = chosen !== instance.run || instance.finishedAt !== null;
  const history = useHistory(instance.workflowName, instance.id, chosen, over);
  const earlier = history?.earlierRuns.find(({ run }) => run === chosen);
  return (
    <>
      <Card>
        <Facts
          of={[
            ["Status", <Status key="status" of={instance.status} />],
            ["Created", <FullTime key="created" at={instance.createdAt} />],
            ["Started", <FullTime key="started" at={instance.startedAt} />],
            ["Finished", <FullTime key="finished" at={instance.finishedAt} />],
            ["Took", <Took key="took" from={instance.startedAt} to={instance.finishedAt} />],
            ["Run", <Runs key="run" chosen={chosen} instance={instance} earlier={history?.earlierRuns ?? []} />],
            ...(instance.version === undefined ? [] : [["Version", instance.version] as const]),
            ...(instance.parent === undefined
              ? []
              : [["Parent", <Parent key="parent" of={instance.parent} />] as const]),
            ...(instance.labels === undefined || Object.keys(instance.labels).length === 0
              ? []
              : [["Labels", <Labels key="labels" of={instance.labels} />] as const]),
            ...(instance.priority === undefined ? [] : [["Priority", instance.priority] as const]),
            ...(instance.schedule === undefined
              ? []
              : [["Schedule", <Fired key="schedule" of={instance.schedule} />] as const]),
            ...(instance.limits?.concurrency === undefined
              ? []
              : [
                  [
                    "Concurrency",
                    <Limit key="concurrency" of={instance.limits.concurrency} name={instance.workflowName} />,
                  ] as const,
                ]),
            ...(instance.limits?.rateLimit === undefined
              ? []
              : [
                  [
                    "Rate limit",
                    <Limit key="rate" of={instance.limits.rateLimit} name={instance.workflowName} />,
                  ] as const,
                ]),
          ]}
        />
      </Card>
      {instance.unreadable !== undefined && <UnreadableNote of={instance.unreadable} />}
      {instance.diverged !== undefined && (
        <Card title="Its code doesn't match its history">
          <FailureView of={instance.diverged} />
        </Card>
      )}
      {history !== null && (
        <RunSteps
          key={chosen}
          instance={instance}
          explanation={explanation}
          run={chosen}
          earlier={earlier}
          history={history}
        />
      )}
      <Ending of={earlier ?? instance} />
      <Inputs instance={instance} explanation={explanation} />
    </>
  );
}

/** The output or the error with which a run ended. */
function Ending({ of }: { readonly of: Pick<Instance, "status" | "output" | "error" | "rollback"> }) {
  return (
    <>
      {of.error !== undefined && (
        <Card title="Error">
          <FailureView of={of.error} />
        </Card>
      )}
      {of.rollback?.error !== undefined && (
        <Card title="Error of the rollback">
          <FailureView of={of.rollback.error} />
        </Card>
      )}
      {of.status === "complete" && (
        <Card title="Output">
          <Value of={of.output} label="output" />
        </Card>
      )}
    </>
  );
}

function Runs(props: {
  readonly chosen: number;
  readonly instance: Instance;
  readonly earlier: readonly EarlierRun[];
}) {
  const { chosen, instance, earlier } = props;
  if (instance.run === 1) return <>1</>;
  return (
    <select
      aria-label="Run"
      value={String(chosen)}
      onChange={({ currentTarget: { value } }) =>
        setSearch({ run: value === String(instance.run) ? null : value, step: null, open: null, zoom: null })
      }
    >
      {[...earlier, instance].map(({ run, status }) => (
        <option key={run} value={String(run)}>
          {run} ({wordOf(status)})
        </option>
      ))}
    </select>
  );
}

function Parent({ of: { workflowName, id } }: { readonly of: { readonly workflowName: string; readonly id: string } }) {
  return (
    <Link to={`/workflows${path(workflowName, id)}`}>
      {workflowName} {id}
    </Link>
  );
}

function Fired({ of: { cron, scheduledTime } }: { readonly of: NonNullable<Instance["schedule"]> }) {
  return (
    <>
      {describeCron(cron)}, for <FullTime at={scheduledTime} />
    </>
  );
}

/** The key of a limit that it shares with others. */
function Limit(props: { readonly of: { readonly key: string; readonly limit: number | null }; readonly name: string }) {
  const { key, limit } = props.of;
  return (
    <>
      <Link to="/lines">{shownKey(key, props.name)}</Link>
      {limit !== null && <span class="faint"> (at most {limit})</span>}
    </>
  );
}

function Labels({ of }: { readonly of: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(of).map(([key, value]) => (
        <Link key={key} class="label" to={`/workflows?label=${encodeURIComponent(`${key}=${value}`)}`}>
          {key}={value}
        </Link>
      ))}
    </>
  );
}
