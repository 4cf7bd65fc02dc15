import { change, may, path, query } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import type { Failure, Subject } from "../data/types.ts";
import { hasHidden } from "../data/values.ts";
import { Copy } from "../parts/copy.tsx";
import { ChoiceFilter, Filters, Pager, TextFilter } from "../parts/fields.tsx";
import { Empty, Loaded, Page } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { ValueLine } from "../parts/value.tsx";
import { ask, perform } from "../shell/dialogs.tsx";
import { Link, search } from "../shell/router.tsx";

const STATUSES = ["idle", "failed", "leased", "running", "retired"] as const;
const PAGE = 50;

interface SubjectList {
  readonly subjects: readonly Subject[];
  readonly cursor: string | null;
}

/** A board for each dispatcher. */
export function SubjectsPage({ dispatcher }: { readonly dispatcher: string | undefined }) {
  const found = useResource<{ dispatchers: string[] }>("/subjects");
  return (
    <Page title="Subjects">
      <Loaded from={found}>
        {({ dispatchers }) => {
          const shown = dispatcher ?? dispatchers[0];
          if (shown === undefined)
            return <Empty title="This process has no subjects">They are defined in the application's code.</Empty>;
          return (
            <>
              <nav class="tabs" aria-label="Dispatchers">
                {[...new Set([...dispatchers, shown])].map((id) => (
                  <Link key={id} to={`/subjects${path(id)}`} aria-current={id === shown ? "page" : undefined}>
                    {id}
                  </Link>
                ))}
              </nav>
              <Board key={shown} dispatcher={shown} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Board({ dispatcher }: { readonly dispatcher: string }) {
  const get = (name: string) => search.value.get(name);
  const filters = query({ status: get("status"), group: get("group"), cursor: get("cursor"), limit: PAGE });
  const list = useResource<SubjectList>(`/subjects${path(dispatcher)}${filters}`);
  return (
    <>
      <Filters>
        <TextFilter name="group" label="Group" />
        <ChoiceFilter name="status" label="Status" options={STATUSES.map((status) => [status, status])} />
      </Filters>
      <Loaded from={list}>
        {({ subjects, cursor }) => (
          <>
            {subjects.length === 0 ? (
              <Empty title="No subject fits" />
            ) : (
              <Table label="Subjects" rows={subjects} columns={COLUMNS} keyOf={({ subjectKey }) => subjectKey} />
            )}
            <Pager cursor={cursor} />
          </>
        )}
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<Subject>[] = [
  {
    title: "Subject",
    kind: "main",
    cell: ({ subjectKey, group, lastError }) => (
      <>
        <span class="id">
          <strong>{subjectKey}</strong>
          {group !== null && <span class="label">{group}</span>}
          <Copy text={subjectKey} what="key" />
        </span>
        {lastError !== null && <LastError of={lastError} />}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status of={status} /> },
  { title: "Cursor", cell: ({ cursor }) => <ValueLine of={cursor} label="cursor" /> },
  { title: "Next due", cell: ({ nextDueAt }) => <Time at={nextDueAt} /> },
  {
    title: "Lease",
    kind: "minor",
    cell: ({ leaseOwner, leaseExpiresAt }) =>
      leaseOwner === null ? (
        <span class="faint">–</span>
      ) : (
        <>
          <span class="one-line">{leaseOwner}</span> <Time at={leaseExpiresAt} />
        </>
      ),
  },
  {
    title: "Failures",
    kind: "number",
    cell: ({ consecutiveFailures }) => consecutiveFailures,
  },
  { title: "Last success", kind: "minor", cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} /> },
  { title: "Actions", cell: (subject) => may("operate") && <SubjectButtons subject={subject} /> },
];

function LastError({ of: { name, message } }: { readonly of: Failure }) {
  const shown = typeof message === "string" && !hasHidden(message);
  return <small class="last-error">{shown ? message : name}</small>;
}

function SubjectButtons({
  subject: { dispatcherId, subjectKey, leaseOwner, revision, status },
}: {
  readonly subject: Subject;
}) {
  const url = `/subjects${path(dispatcherId, subjectKey)}`;
  const release = () =>
    ask({
      title: `Take ${subjectKey} from its owner?`,
      text: "Its owner's work since the last checkpoint is done again. It is neither a success nor a failure.",
      action: "Release",
      danger: true,
      act: async () => {
        await change(`${url}/release`, { revision });
        return `${subjectKey} is released.`;
      },
    });
  if (leaseOwner !== null) {
    return (
      <button type="button" class="button small danger" onClick={release}>
        Release
      </button>
    );
  }
  return (
    <button
      type="button"
      class="button small"
      disabled={status === "retired"}
      aria-label={`Make due: ${subjectKey}`}
      onClick={() => void perform(`${subjectKey} is due now.`, () => change(`${url}/due`))}
    >
      Make due
    </button>
  );
}
