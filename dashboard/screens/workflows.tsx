import { useSignal } from "@preact/signals";
import { change, may, path, query } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { count, figure } from "../data/times.ts";
import { type Figure, type Instance, type InstanceCounts, STATUSES, type Statistics } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { ChoiceFilter, ErrorFilter, Filters, Pager, TextFilter } from "../parts/fields.tsx";
import { actOnAll, CountOf, type JobAction, JobProgress, type JobTarget } from "../parts/jobs.tsx";
import { Empty, Loaded, Page } from "../parts/page.tsx";
import { Status, wordOf } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time, Took } from "../parts/time.tsx";
import { ask } from "../shell/dialogs.tsx";
import { Link, search } from "../shell/router.tsx";
import { newInstance } from "./new-instance.tsx";

interface InstanceList {
  readonly instances: readonly Instance[];
  readonly cursor: string | null;
}

const PAGE = 50;
const HOUR_MS = 3_600_000;
const TIMES = [
  ["1", "Last hour"],
  ["24", "Last day"],
  ["168", "Last week"],
  ["720", "Last 30 days"],
] as const;

/** The instances of one workflow, or of all, by the filters in the URL. */
export function WorkflowsPage() {
  const { data: statistics } = useResource<Statistics>("/stats");
  const workflows = Object.keys(statistics?.instances?.workflows ?? {}).sort();
  const workflow = search.value.get("workflow");
  const filter = readFilter();
  const page = useResource<InstanceList>(listUrl(workflow, filter));
  const target = toTarget(workflow, filter);
  const counts = workflow === null ? statistics?.instances?.total : statistics?.instances?.workflows[workflow];
  return (
    <Page
      title={workflow ?? "Workflows"}
      actions={
        may("create") && (
          <button
            type="button"
            class="button primary"
            onClick={() => newInstance(workflows, { workflow: workflow ?? workflows[0] })}
          >
            Start an instance
          </button>
        )
      }
    >
      <Filters>
        <TextFilter name="id" label="Id begins with" hint="order-42" />
        <ChoiceFilter name="workflow" label="Workflow" options={workflows.map((name) => [name, name])} />
        <ChoiceFilter
          name="status"
          label="Status"
          options={STATUSES.map((status) => [status, `${wordOf(status)}${countOf(counts, status)}`])}
        />
        <ChoiceFilter name="hours" label="Created" options={TIMES} all="At any time" />
        <ChoiceFilter name="finished" label="Finished" options={TIMES} all="At any time" />
        <TextFilter name="label" label="Label" hint="tenant=acme" />
        <TextFilter name="step" label="Has come to step" hint="charge card" />
        {workflow !== null && <VersionFilter workflow={workflow} />}
        <ErrorFilter />
      </Filters>
      <JobProgress />
      <Loaded from={page}>
        {(list) => (
          <>
            <ListHead target={target} list={list} />
            <InstanceTable list={list} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** How many there are, and what can be done with all of them. */
function ListHead({
  target,
  list: { instances, cursor },
}: {
  readonly target: JobTarget;
  readonly list: InstanceList;
}) {
  const whole = cursor === null && !search.value.has("cursor");
  if (whole && instances.length === 0) return null;
  return (
    <div class="list-head">
      <CountOf target={target} shown={instances.length} all={whole} />
      {may("manage") && (
        <button type="button" class="button small" onClick={() => actOnAll(target, ACTIONS)}>
          Act on all that match
        </button>
      )}
    </div>
  );
}

/** Versions that any instance can have: those that this process knows, or unfinished instances have. */
function VersionFilter({ workflow }: { readonly workflow: string }) {
  const { data } = useResource<{ versions: readonly { readonly version: number }[] }>(
    `/workflows${path(workflow)}/versions`,
  );
  const versions = data?.versions ?? [];
  if (versions.length < 2 && !search.value.has("version")) return null;
  return (
    <ChoiceFilter
      name="version"
      label="Version"
      options={versions.map(({ version }) => [String(version), version === 0 ? "without" : String(version)])}
    />
  );
}

function countOf(counts: InstanceCounts | undefined, status: Figure): string {
  return (counts?.[status] ?? 0) === 0 ? "" : ` (${figure(counts, status)})`;
}

/** The filter in the URL, as lists take it. */
function readFilter() {
  const get = (name: string) => search.value.get(name);
  const label = get("label");
  return {
    idPrefix: get("id"),
    status: search.value.getAll("status"),
    label: label?.includes("=") ? label : null,
    error: get("error"),
    step: get("step"),
    version: get("version"),
    createdFrom: hoursAgo(get("hours")),
    finishedFrom: hoursAgo(get("finished")),
  };
}

type Filter = ReturnType<typeof readFilter>;

function listUrl(workflow: string | null, filter: Filter): string {
  const filters = query({ ...filter, cursor: search.value.get("cursor"), limit: PAGE });
  return workflow === null ? `/instances${filters}` : `/workflows${path(workflow)}/instances${filters}`;
}

/** The same filter, as jobs take it. */
function toTarget(workflow: string | null, { label, status, version, ...rest }: Filter): JobTarget {
  const at = label?.indexOf("=") ?? -1;
  const given = Object.entries({
    ...rest,
    workflow,
    status: status.length === 0 ? null : status,
    labels: label === null ? null : { [label.slice(0, at)]: label.slice(at + 1) },
  }).filter(([, value]) => value !== null && value !== "");
  const conditions = Object.fromEntries(given);
  const versions = version === null ? {} : { version: version === "0" ? null : Number(version) };
  const filter = { ...conditions, ...versions };
  return { what: "instances", filter: Object.keys(filter).length === 0 ? { all: true } : filter };
}

/** To the minute, so that the question stays the same for a while. */
function hoursAgo(text: string | null): string | null {
  const hours = Number(text);
  if (!(hours > 0)) return null;
  return new Date(Math.floor((Date.now() - hours * HOUR_MS) / 60_000) * 60_000).toISOString();
}

function InstanceTable({ list: { instances, cursor } }: { readonly list: InstanceList }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  if (instances.length === 0) {
    return (
      <>
        <Empty title="No instance fits">Change the filter, or start an instance.</Empty>
        <Pager cursor={cursor} />
      </>
    );
  }
  const keyOf = ({ workflowName, id }: Instance) => `${workflowName}/${id}`;
  const selected = instances.filter((one) => chosen.value.has(keyOf(one)));
  const toggle = (key: string, on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(key);
    else next.delete(key);
    chosen.value = next;
  };
  const check: Column<Instance> = {
    title: "Selection",
    kind: "check",
    head: (
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={selected.length === instances.length}
        onChange={(event) => (chosen.value = new Set(event.currentTarget.checked ? instances.map(keyOf) : []))}
      />
    ),
    cell: (one) => (
      <input
        type="checkbox"
        aria-label={`Select ${one.id}`}
        checked={chosen.value.has(keyOf(one))}
        onChange={(event) => toggle(keyOf(one), event.currentTarget.checked)}
      />
    ),
  };
  return (
    <>
      {selected.length > 0 && <BulkBar selected={selected} onDone={() => (chosen.value = new Set())} />}
      <Table label="Instances" rows={instances} keyOf={keyOf} columns={may("manage") ? [check, ...COLUMNS] : COLUMNS} />
      <Pager cursor={cursor} />
    </>
  );
}

const COLUMNS: readonly Column<Instance>[] = [
  {
    title: "Instance",
    kind: "main",
    cell: ({ id, workflowName }) => (
      <span class="id">
        <Link to={`/workflows${path(workflowName, id)}`}>{id}</Link>
        <Copy text={id} what="id" />
      </span>
    ),
  },
  { title: "Workflow", cell: ({ workflowName }) => workflowName },
  { title: "Status", cell: ({ status }) => <Status of={status} /> },
  {
    title: "Labels",
    kind: "minor",
    cell: ({ labels = {} }) =>
      Object.entries(labels).map(([key, value]) => (
        <span key={key} class="label">
          {key}={value}
        </span>
      )),
  },
  { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: "Took", kind: "number", cell: ({ startedAt, finishedAt }) => <Took from={startedAt} to={finishedAt} /> },
  { title: "Run", kind: "number", cell: ({ run }) => run },
];

const ACTIONS: readonly JobAction[] = [
  { action: "pause", name: "Pause", effect: "They are paused when their running steps have ended.", danger: false },
  { action: "resume", name: "Resume", effect: "They continue where they were.", danger: false },
  {
    action: "retry",
    name: "Retry",
    effect: "Their failed steps are tried again; all others keep their results.",
    danger: false,
  },
  {
    action: "restart",
    name: "Restart",
    effect: "They begin again with the same params. Steps are not undone.",
    danger: true,
  },
  { action: "terminate", name: "Terminate", effect: "They end now. Steps that run are aborted.", danger: true },
  {
    action: "delete",
    name: "Delete",
    effect: "They are deleted with their histories. This can't be undone.",
    danger: true,
  },
];

/** Actions on the selected instances, one after another, with their progress. */
function BulkBar({ selected, onDone }: { readonly selected: readonly Instance[]; readonly onDone: () => void }) {
  const progress = useSignal<number | null>(null);
  const run = (name: string, action: string, danger: boolean) =>
    ask({
      title: `${name} ${count(selected.length)} ${selected.length === 1 ? "instance" : "instances"}?`,
      text: selected.slice(0, 5).map(({ id }) => <div key={id}>{id}</div>),
      action: name,
      danger,
      act: async () => {
        const failures: string[] = [];
        for (const [index, { workflowName, id }] of selected.entries()) {
          progress.value = index;
          const url = `/workflows${path(workflowName)}/instances${path(id)}`;
          const done = action === "delete" ? change(url, {}, { method: "DELETE" }) : change(`${url}/${action}`);
          await done.catch((error: Error) => failures.push(`${id}: ${error.message}`));
        }
        progress.value = null;
        onDone();
        const succeeded = selected.length - failures.length;
        return failures.length === 0
          ? `${name}: ${count(succeeded)} done.`
          : `${name}: ${count(succeeded)} done. ${failures[0]}`;
      },
    });
  return (
    <div class="bulk" role="toolbar" aria-label="Selected instances">
      <strong>{count(selected.length)} selected</strong>
      {progress.value === null ? (
        <>
          {ACTIONS.map(({ action, name, danger }) => (
            <button
              key={action}
              type="button"
              class={danger ? "button danger" : "button"}
              onClick={() => run(name, action, danger)}
            >
              {name}
            </button>
          ))}
          <button type="button" class="quiet" onClick={onDone}>
            Clear selection
          </button>
        </>
      ) : (
        <progress max={selected.length} value={progress.value} aria-label="Progress" />
      )}
    </div>
  );
}
