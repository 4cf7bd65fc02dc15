import { change, may, path } from "../data/api.ts";
import { describeCron } from "../data/cron.ts";
import { useResource } from "../data/live.ts";
import type { Schedule } from "../data/types.ts";
import { Empty, Loaded, Page } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { ask, perform } from "../shell/dialogs.tsx";
import { Link } from "../shell/router.tsx";

export function SchedulesPage() {
  const found = useResource<{ schedules: Schedule[] }>("/schedules");
  return (
    <Page title="Schedules">
      <Loaded from={found}>
        {({ schedules }) =>
          schedules.length === 0 ? (
            <Empty title="There are no schedules">Workflows have them in their code, as cron expressions.</Empty>
          ) : (
            <Table
              label="Schedules"
              rows={schedules}
              columns={COLUMNS}
              keyOf={({ workflowName, name, cron }) => `${workflowName}/${name}/${cron}`}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    title: "Schedule",
    kind: "main",
    cell: ({ name, workflowName }) => (
      <span class="id">
        <strong>{name}</strong>
        <small class="below">
          <Link to={`/workflows?workflow=${encodeURIComponent(workflowName)}`}>{workflowName}</Link>
        </small>
      </span>
    ),
  },
  {
    title: "When",
    cell: ({ cron, timezone }) => (
      <>
        {describeCron(cron)}
        <small class="below faint">
          <code>{cron}</code> {timezone}
        </small>
      </>
    ),
  },
  {
    title: "Status",
    cell: ({ paused, inCode }) => <Status of={paused ? "paused" : inCode ? "active" : "elsewhere"} />,
  },
  { title: "Next", cell: ({ nextAt }) => <Time at={nextAt} /> },
  { title: "Last", cell: ({ lastAt }) => <Time at={lastAt} none="never" /> },
  { title: "Actions", cell: (schedule) => may("operate") && <ScheduleButtons schedule={schedule} /> },
];

function ScheduleButtons({ schedule: { workflowName, name, paused } }: { readonly schedule: Schedule }) {
  const url = `/schedules${path(workflowName, name)}`;
  const pause = () =>
    ask({
      title: `Pause ${name}?`,
      text: "Times that pass before it is resumed are skipped.",
      action: "Pause",
      danger: true,
      act: async () => {
        await change(`${url}/pause`);
        return `${name} is paused.`;
      },
    });
  const run = () =>
    ask({
      title: `Run ${name} now?`,
      text: `An instance of ${workflowName} is created. The schedule's own times don't change.`,
      action: "Run now",
      act: async () => {
        const { id } = await change<{ id: string }>(`${url}/run`);
        return `The instance ${id} is created.`;
      },
    });
  return (
    <span class="row-buttons">
      {may("create") && (
        <button type="button" class="button small" aria-label={`Run now: ${name}`} onClick={run}>
          Run now
        </button>
      )}
      {paused ? (
        <button
          type="button"
          class="button small"
          aria-label={`Resume ${name}`}
          onClick={() => void perform(`${name} is resumed.`, () => change(`${url}/resume`))}
        >
          Resume
        </button>
      ) : (
        <button type="button" class="button small" aria-label={`Pause ${name}`} onClick={pause}>
          Pause
        </button>
      )}
    </span>
  );
}
