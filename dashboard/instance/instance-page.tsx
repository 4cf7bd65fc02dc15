import { useSignal } from "@preact/signals";
import { path } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { now } from "../data/times.ts";
import type { EarlierRun, Explanation, Instance } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { Card, Empty, Facts, Loaded, Page } from "../parts/page.tsx";
import { Status, wordOf } from "../parts/status.tsx";
import { FullTime, Took, WithTimes } from "../parts/time.tsx";
import { FailureView, UnreadableNote, Value } from "../parts/value.tsx";
import { Link, search, setSearch } from "../shell/router.tsx";
import { Inputs } from "./inputs.tsx";
import { InstanceActions } from "./instance-actions.tsx";
import { StepDetail } from "./step-detail.tsx";
import { type BegunStep, toSteps } from "./steps.ts";
import { useChildSteps } from "./use-child-steps.ts";
import { useEvents, useHistory } from "./use-history.ts";
import { Waterfall } from "./waterfall.tsx";

/** One instance: why it waits, its steps over time, and everything about the selected one. */
export function InstancePage({ workflowName, id }: { readonly workflowName: string; readonly id: string }) {
  const url = `/workflows${path(workflowName)}/instances${path(id)}`;
  const found = useResource<Instance>(url);
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

function Sentence({ explanation: { sentence, reason } }: { readonly explanation: Explanation }) {
  return (
    <p class={`sentence reason-${reason.reason}`}>
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
          ]}
        />
      </Card>
      {instance.unreadable !== undefined && <UnreadableNote of={instance.unreadable} />}
      {instance.diverged !== undefined && (
        <Card title="Its code doesn't match its history">
          <FailureView of={instance.diverged} />
        </Card>
      )}
      <Steps instance={instance} explanation={explanation} run={chosen} earlier={earlier} history={history} />
      <Ending of={earlier ?? instance} />
      <Inputs instance={instance} />
    </>
  );
}

interface StepsProps extends ViewProps {
  readonly run: number;
  readonly earlier: EarlierRun | undefined;
  readonly history: ReturnType<typeof useHistory>;
}

function Steps({ instance, explanation, run, earlier, history }: StepsProps) {
  const selected = useSignal<string | null>(null);
  const opened = useSignal<string | null>(null);
  const { startedAt, finishedAt } = earlier ?? instance;
  const finished = earlier !== undefined || instance.finishedAt !== null;
  const until = finishedAt === null ? now.value : Date.parse(finishedAt);
  const times = { startedAt: Date.parse(startedAt ?? instance.createdAt), until, finished };
  const own = toSteps(history?.entries ?? [], times, run === instance.run ? begunStep(explanation) : null);
  const steps = useChildSteps(own, opened.value);
  if (history === null) return null;
  if (steps.length === 0) return <Empty title="No step has ended yet" />;
  const select = (key: string | null) => {
    selected.value = key;
    if (own.some((one) => one.key === key && one.child !== null)) opened.value = opened.value === key ? null : key;
  };
  const step = steps.find(({ key }) => key === selected.value) ?? null;
  return (
    <>
      <Waterfall steps={steps} times={times} complete={history.complete} selected={selected.value} onSelect={select} />
      {step !== null && (
        <StepDetail
          key={step.key}
          step={step}
          instance={instance}
          current={run === instance.run && own.includes(step)}
          onClose={() => (selected.value = null)}
        />
      )}
    </>
  );
}

function begunStep(explanation: Explanation | null): BegunStep | null {
  const { reason, ...rest } = explanation?.reason ?? { reason: "" };
  return reason === "running" ? ((rest as { step?: BegunStep | null }).step ?? null) : null;
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
      onChange={({ currentTarget: { value } }) => setSearch({ run: value === String(instance.run) ? null : value })}
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
