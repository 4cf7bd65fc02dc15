import type { ComponentChildren } from "preact";
import { path } from "../data/api.ts";
import { type Resource, useResource } from "../data/live.ts";
import { count, duration, figure } from "../data/times.ts";
import type { Figure, Instance, InstanceCounts, Schedule, Statistics, Unclaimed, Worker } from "../data/types.ts";
import { Chart } from "../parts/chart.tsx";
import { Card, Empty, Loaded, Page } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../shell/router.tsx";
import { Attention } from "./attention.tsx";

interface Activity {
  readonly since: string;
  readonly minutes: readonly ({ readonly at: string } & Readonly<Record<string, number>>)[];
}

/** Among so many of the latest failures, crash loops are looked for. */
const LATEST = 20;
const SHOWN_FAILURES = 4;

/** What an operator wants to know first. */
export function Overview() {
  const statistics = useResource<Statistics>("/stats");
  const { data: workers } = useResource<{ workers: Worker[] }>("/workers");
  const { data: unclaimed } = useResource<{ unclaimed: Unclaimed[] }>("/workers/unclaimed");
  const failures = useResource<{ instances: Instance[] }>(`/instances?status=errored&limit=${LATEST}`);
  const { data: activity } = useResource<Activity>("/activity?minutes=60");
  const alive = workers?.workers.filter((worker) => worker.alive).length;
  return (
    <Page title="Overview">
      <Loaded from={statistics}>
        {(counted) => (
          <>
            <Tiles statistics={counted} alive={alive} />
            <div class="columns">
              <div>
                <Attention
                  statistics={counted}
                  workers={workers?.workers ?? null}
                  unclaimed={unclaimed?.unclaimed ?? []}
                  failures={failures.data?.instances ?? []}
                />
                <LatestFailures from={failures} />
                <WorkflowCounts counts={counted.instances?.workflows ?? {}} />
              </div>
              <div>
                {activity !== null && (
                  <Card class="charts">
                    <ActivityCharts activity={activity} />
                  </Card>
                )}
                <NextSchedules />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface TilesProps {
  readonly statistics: Statistics;
  readonly alive: number | undefined;
}

function Tiles({ statistics: { hooks, instances, instanceQueue }, alive }: TilesProps) {
  const oldest = (ms: number | null) => (ms === null ? "none waits" : `oldest for ${duration(ms)}`);
  const counted = (status: Figure) => ({
    value: instances?.total[status] ?? 0,
    text: figure(instances?.total, status),
  });
  return (
    <div class="tiles">
      <Tile name="Running" to="/workflows?status=running" {...counted("running")} tone="active" />
      <Tile name="Waiting" to="/workflows?status=waiting" {...counted("waiting")} tone="waits" />
      <Tile name="Queued" to="/workflows?status=queued" {...counted("queued")} tone="calm">
        {instanceQueue && (instanceQueue.due > 0 ? oldest(instanceQueue.oldestDueMs) : "none is due")}
      </Tile>
      <Tile name="Failed" to="/workflows?status=errored" {...counted("errored")} tone="bad" />
      {hooks !== undefined && (
        <>
          <Tile name="Hooks due" to="/hooks?status=pending" value={hooks.due} tone="active">
            {oldest(hooks.oldestDueMs)}
          </Tile>
          <Tile name="Dead letters" to="/hooks?status=failed" value={hooks.failed} tone="bad" />
        </>
      )}
      {alive !== undefined && (
        <Tile name="Workers alive" to="/workers" value={alive} tone={alive === 0 ? "bad" : "good"} alarming />
      )}
    </div>
  );
}

function Tile(props: {
  readonly name: string;
  readonly value: number;
  /** How it is shown. Default: all of its digits. */
  readonly text?: string;
  readonly to: string;
  readonly tone: string;
  /** Whether it needs a colour although it is zero. */
  readonly alarming?: boolean;
  readonly children?: ComponentChildren;
}) {
  const { name, value, text = count(value), to, tone, alarming = false, children } = props;
  return (
    <Link to={to} class={`tile ${sizeOf(text)} ${value === 0 && !alarming ? "zero" : ""} tone-${tone}`}>
      <span>{name}</span>
      <strong class="number">{text}</strong>
      {children !== undefined && <small>{children}</small>}
    </Link>
  );
}

/** A long number has all of its digits, in smaller type. */
function sizeOf({ length }: string): string {
  return length > 11 ? "longest" : length > 7 ? "long" : "";
}

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** A process that has counted for less time shows fewer minutes, but enough to see a course. */
const FEWEST_MINUTES = 15;

function ActivityCharts({ activity: { since, minutes } }: { readonly activity: Activity }) {
  const known = new Map(minutes.map((minute) => [Date.parse(minute.at), minute]));
  const last = Math.max(...known.keys(), 0);
  const counted = Math.ceil((last - Date.parse(since)) / MINUTE_MS) + 1;
  const shown = Math.min(Math.max(counted, FEWEST_MINUTES), MINUTES);
  const times = Array.from({ length: shown }, (_, index) => last - (shown - 1 - index) * MINUTE_MS);
  const field = (name: string) => times.map((time) => Number(known.get(time)?.[name] ?? 0));
  return (
    <>
      <Chart
        label="Instances finished per minute"
        times={times}
        series={[
          { label: "Completed", color: "--chart-good", values: field("instancesCompleted") },
          { label: "Failed", color: "--chart-bad", values: field("instancesErrored") },
        ]}
      />
      <Chart
        label="Instances started per minute"
        times={times}
        series={[{ label: "Started", color: "--chart-active", values: field("instancesStarted") }]}
      />
      <Chart
        label="Hook attempts per minute"
        times={times}
        series={[
          { label: "Completed", color: "--chart-good", values: field("hooksCompleted") },
          { label: "Retried", color: "--chart-warns", values: field("hooksRetried") },
          { label: "Failed", color: "--chart-bad", values: field("hooksFailed") },
        ]}
      />
    </>
  );
}

const SHOWN: readonly Figure[] = ["running", "waiting", "queued", "paused", "errored", "complete"];

function WorkflowCounts({ counts }: { readonly counts: Readonly<Record<string, InstanceCounts>> }) {
  const names = Object.keys(counts).sort();
  return (
    <Card title="Workflows">
      {names.length === 0 && <Empty title="There are no workflows yet">They appear here with their instances.</Empty>}
      <ul class="workflow-counts">
        {names.map((name) => (
          <li key={name}>
            <Link to={`/workflows?workflow=${encodeURIComponent(name)}`}>{name}</Link>
            <span class="shares">
              {SHOWN.every((status) => (counts[name]?.[status] ?? 0) === 0) && <span class="faint">no instances</span>}
              {SHOWN.filter((status) => (counts[name]?.[status] ?? 0) > 0).map((status) => (
                <Link key={status} to={`/workflows?workflow=${encodeURIComponent(name)}&status=${status}`}>
                  <Status of={status} /> <span class="number">{figure(counts[name], status)}</span>
                </Link>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function LatestFailures({ from }: { readonly from: Resource<{ instances: Instance[] }> }) {
  return (
    <Card title="Latest failures">
      <Loaded from={from}>
        {({ instances }) =>
          instances.length === 0 ? (
            <Empty title="No instance has failed" />
          ) : (
            <ul class="recent">
              {instances.slice(0, SHOWN_FAILURES).map(({ id, workflowName, error, finishedAt }) => (
                <li key={`${workflowName}/${id}`}>
                  <Link to={`/workflows${path(workflowName, id)}`}>{id}</Link>
                  <Time at={finishedAt} />
                  <small>{typeof error?.message === "string" ? error.message : error?.name}</small>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

const NEXT = 6;

function NextSchedules() {
  const found = useResource<{ schedules: Schedule[] }>("/schedules");
  return (
    <Card title="Next schedules">
      <Loaded from={found}>
        {({ schedules }) => {
          const next = schedules
            .filter(({ nextAt }) => nextAt !== null)
            .sort((left, right) => Date.parse(left.nextAt ?? "") - Date.parse(right.nextAt ?? ""))
            .slice(0, NEXT);
          if (next.length === 0) return <Empty title="No schedule is active" />;
          return (
            <ul class="recent">
              {next.map(({ workflowName, name, nextAt }) => (
                <li key={`${workflowName}/${name}`}>
                  <Link to="/schedules">{name}</Link>
                  <Time at={nextAt} />
                  <small>{workflowName}</small>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
