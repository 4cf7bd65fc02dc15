import { useResource } from "../data/live.ts";
import type { Worker } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { Empty, Loaded, Page } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

export function WorkersPage() {
  const found = useResource<{ workers: Worker[] }>("/workers");
  return (
    <Page title="Workers">
      <Loaded from={found}>
        {({ workers }) =>
          workers.length === 0 ? (
            <Empty title="No worker has been seen for a day">
              A process runs a worker when it starts the application.
            </Empty>
          ) : (
            <Table label="Workers" rows={workers} columns={COLUMNS} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    title: "Worker",
    kind: "main",
    cell: ({ id, host, pid }) => (
      <span class="id">
        <strong>{host}</strong>
        {pid !== null && <small class="faint">process {pid}</small>}
        <Copy text={id} what="id" />
      </span>
    ),
  },
  { title: "Status", cell: ({ alive }) => <Status of={alive ? "alive" : "dead"} /> },
  { title: "Seen", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  { title: "Started", cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: "Workflows", cell: ({ workflows }) => <Names of={workflows} /> },
  { title: "Hooks", kind: "minor", cell: ({ hooks }) => <Names of={hooks} /> },
  {
    title: "Slots",
    kind: "number",
    cell: ({ concurrency: { hooks, workflows } }) => (
      <>
        <span>
          {workflows} <span class="faint">workflows</span>
        </span>{" "}
        <span>
          {hooks} <span class="faint">hooks</span>
        </span>
      </>
    ),
  },
  { title: "Version", kind: "minor", cell: ({ version }) => version },
];

const FIRST_NAMES = 6;

function Names({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.slice(0, FIRST_NAMES).map((name) => (
        <span key={name} class="label">
          {name}
        </span>
      ))}
      {of.length > FIRST_NAMES && (
        <span class="faint" title={of.join(", ")}>
          +{of.length - FIRST_NAMES}
        </span>
      )}
    </>
  );
}
