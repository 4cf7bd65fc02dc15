import { useSignal } from "@preact/signals";
import { change, may, path, query } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { count } from "../data/times.ts";
import type { Explanation, Hook, Statistics } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { ChoiceFilter, ErrorFilter, Filters, Pager, TextFilter } from "../parts/fields.tsx";
import { actOnAll, type JobAction, JobProgress, type JobTarget } from "../parts/jobs.tsx";
import { Card, Empty, Facts, Loaded, Page } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { FullTime, Time, WithTimes } from "../parts/time.tsx";
import { FailureView, UnreadableNote, Value } from "../parts/value.tsx";
import { ask } from "../shell/dialogs.tsx";
import { Link, open, search } from "../shell/router.tsx";

interface HookList {
  readonly hooks: readonly Hook[];
  readonly cursor: string | null;
}

const PAGE = 50;

export function HooksPage() {
  const { data: statistics } = useResource<Statistics>("/stats");
  const get = (name: string) => search.value.get(name);
  const filter = {
    status: get("status"),
    name: get("name"),
    idPrefix: get("id"),
    error: get("error"),
  };
  const list = useResource<HookList>(
    `/hooks${query({ ...filter, order: get("order"), cursor: get("cursor"), limit: PAGE })}`,
  );
  const number = (field: "pending" | "processing" | "failed" | "completed") => {
    const value = statistics?.hooks?.[field] ?? 0;
    return value === 0 ? "" : ` (${count(value)})`;
  };
  const dead = filter.status === "failed";
  return (
    <Page
      title={dead ? "Dead letters" : "Hooks"}
      actions={may("operate") && may("manage") && <AllButtons filter={filter} />}
    >
      <Filters>
        <TextFilter name="name" label="Name" hint="sendMail" />
        <ChoiceFilter
          name="status"
          label="Status"
          options={[
            ["pending", pendingWords(statistics?.hooks)],
            ["processing", `running${number("processing")}`],
            ["failed", `dead letters${number("failed")}`],
            ["completed", `completed${number("completed")}`],
          ]}
        />
        <TextFilter name="id" label="Id begins with" />
        <ErrorFilter />
        <ChoiceFilter name="order" label="Order" options={[["oldest", "Oldest first"]]} all="Newest first" />
      </Filters>
      <JobProgress />
      <Loaded from={list}>{(answer) => <HookTable list={answer} />}</Loaded>
    </Page>
  );
}

/** What is due waits for a worker; the rest for its time. */
function pendingWords(hooks: Statistics["hooks"]): string {
  if (hooks === undefined || hooks.pending === 0) return "due or scheduled";
  return `${count(hooks.due)} due, ${count(hooks.pending - hooks.due)} scheduled`;
}

const COLUMNS: readonly Column<Hook>[] = [
  {
    title: "Hook",
    kind: "main",
    cell: ({ id, name }) => (
      <span class="id">
        <Link to={`/hooks${path(id)}`}>{name}</Link>
        <span class="below">
          <small class="faint">{id}</small> <Copy text={id} what="id" />
        </span>
      </span>
    ),
  },
  { title: "Status", cell: (hook) => <Status of={statusOf(hook)} /> },
  { title: "Key", kind: "minor", cell: ({ key }) => <KeyText of={key} /> },
  { title: "Attempts", kind: "number", cell: ({ attempts }) => attempts },
  { title: "Due", cell: ({ status, availableAt }) => <Time at={status === "pending" ? availableAt : null} /> },
  { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: "Error",
    kind: "minor",
    cell: ({ error }) =>
      error && <span class="one-line">{typeof error.message === "string" ? error.message : error.name}</span>,
  },
];

function KeyText({ of: key }: { readonly of: string | null }) {
  if (key === null) return <span class="faint">–</span>;
  return (
    <span class="one-line" title={key}>
      {key}
    </span>
  );
}

/** A pending hook is due, scheduled, or waits for its next attempt. */
function statusOf({ status, attempts, availableAt }: Hook): string {
  if (status !== "pending") return status;
  if (availableAt !== null && Date.parse(availableAt) <= Date.now()) return "due";
  return attempts > 0 ? "retrying" : "scheduled";
}

function HookTable({ list: { hooks, cursor } }: { readonly list: HookList }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  if (hooks.length === 0) {
    return (
      <>
        <Empty title="No hook fits">Completed hooks are deleted, unless they are kept.</Empty>
        <Pager cursor={cursor} />
      </>
    );
  }
  const selected = hooks.filter(({ id }) => chosen.value.has(id));
  const toggle = (id: string, on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(id);
    else next.delete(id);
    chosen.value = next;
  };
  const check: Column<Hook> = {
    title: "Selection",
    kind: "check",
    head: (
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={selected.length === hooks.length}
        onChange={(event) => (chosen.value = new Set(event.currentTarget.checked ? hooks.map(({ id }) => id) : []))}
      />
    ),
    cell: ({ id, name }) => (
      <input
        type="checkbox"
        aria-label={`Select ${name} ${id}`}
        checked={chosen.value.has(id)}
        onChange={(event) => toggle(id, event.currentTarget.checked)}
      />
    ),
  };
  return (
    <>
      {selected.length > 0 && (
        <div class="bulk" role="toolbar" aria-label="Selected hooks">
          <strong>{count(selected.length)} selected</strong>
          <HookButtons hooks={selected} onDone={() => (chosen.value = new Set())} />
          <button type="button" class="quiet" onClick={() => (chosen.value = new Set())}>
            Clear selection
          </button>
        </div>
      )}
      <Table
        label="Hooks"
        rows={hooks}
        keyOf={({ id }) => id}
        columns={may("operate") ? [check, ...COLUMNS] : COLUMNS}
      />
      <Pager cursor={cursor} />
    </>
  );
}

function HookButtons({ hooks, onDone }: { readonly hooks: readonly Hook[]; readonly onDone: () => void }) {
  const dead = hooks.filter(({ status }) => status === "failed");
  const ended = hooks.filter(({ status }) => status === "failed" || status === "completed");
  const open = hooks.filter(({ status }) => status === "pending" || status === "processing");
  const run = (name: string, danger: boolean, act: () => Promise<number>, text: string) =>
    ask({
      title: `${name}?`,
      text,
      action: name,
      danger,
      act: async () => {
        const done = await act();
        onDone();
        return `${name}: ${count(done)} done.`;
      },
    });
  const cancel = open.length === 1 ? "Cancel hook" : "Cancel hooks";
  const ids = (all: readonly Hook[]) => all.map(({ id }) => id);
  return (
    <>
      {dead.length > 0 && (
        <button
          type="button"
          class="button"
          onClick={() =>
            run("Redrive", false, () => changeHooks("redrive", ids(dead)), "They are tried again, with fresh attempts.")
          }
        >
          Redrive
        </button>
      )}
      {ended.length > 0 && (
        <button
          type="button"
          class="button danger"
          onClick={() =>
            run("Discard", true, () => changeHooks("discard", ids(ended)), "They are deleted. This can't be undone.")
          }
        >
          Discard
        </button>
      )}
      {open.length > 0 && (
        <button
          type="button"
          class="button danger"
          onClick={() =>
            run(
              cancel,
              true,
              () => cancelHooks(ids(open)),
              "Those that haven't begun are deleted. This can't be undone.",
            )
          }
        >
          {cancel}
        </button>
      )}
    </>
  );
}

async function changeHooks(action: "redrive" | "discard", ids: readonly string[]): Promise<number> {
  const { ids: changed } = await change<{ ids: string[] }>(`/hooks/${action}`, { ids });
  return changed.length;
}

async function cancelHooks(ids: readonly string[]): Promise<number> {
  let done = 0;
  for (const id of ids) {
    const { cancelled, running } = await change<{ cancelled: string[]; running: string[] }>("/hooks/cancel", { id });
    done += cancelled.length + running.length;
  }
  return done;
}

const ALL: Readonly<Record<string, readonly JobAction[]>> = {
  failed: [
    { action: "redrive", name: "Redrive all", effect: "They are tried again, with fresh attempts.", danger: false },
    { action: "discard", name: "Discard all", effect: "They are deleted. This can't be undone.", danger: true },
  ],
  pending: [{ action: "cancel", name: "Cancel all", effect: "They are deleted. This can't be undone.", danger: true }],
  processing: [
    { action: "cancel", name: "Cancel all", effect: "They run to the end, but lose their next trigger.", danger: true },
  ],
  completed: [
    { action: "discard", name: "Discard all", effect: "They are deleted. This can't be undone.", danger: true },
  ],
};

/** What can be done with all hooks that match the filter: that depends on their status. */
function AllButtons({ filter }: { readonly filter: Readonly<Record<string, string | null>> }) {
  const given = Object.entries(filter).filter(([, value]) => value !== null && value !== "");
  const target: JobTarget = { what: "hooks", filter: Object.fromEntries(given) };
  return (
    <>
      {(ALL[filter["status"] ?? ""] ?? []).map((one) => (
        <button
          key={one.action}
          type="button"
          class={one.action === "redrive" ? "button primary" : "button danger"}
          onClick={() => actOnAll(target, [one])}
        >
          {one.name}
        </button>
      ))}
    </>
  );
}

export function HookPage({ id }: { readonly id: string }) {
  const found = useResource<Hook>(`/hooks${path(id)}`);
  const { data: explanation } = useResource<Explanation>(`/hooks${path(id)}/explain`);
  return (
    <Page
      title={found.data?.name ?? "Hook"}
      heading={
        <>
          {found.data?.name ?? "Hook"} <small class="faint">{id}</small> <Copy text={id} what="id" />
        </>
      }
      actions={
        found.data !== null && may("operate") && <HookButtons hooks={[found.data]} onDone={() => open("/hooks")} />
      }
    >
      {explanation !== null && (
        <p class="sentence">
          <WithTimes text={explanation.sentence} />
        </p>
      )}
      <Loaded from={found}>
        {(hook) => (
          <>
            <Card>
              <Facts
                of={[
                  ["Status", <Status key="status" of={statusOf(hook)} />],
                  ["Attempts", hook.attempts],
                  ["Key", hook.key ?? "–"],
                  ["Created", <FullTime key="created" at={hook.createdAt} />],
                  ["Last attempt", <FullTime key="attempt" at={hook.lastAttemptAt} />],
                  ["Due", <FullTime key="due" at={hook.availableAt} />],
                ]}
              />
            </Card>
            {hook.unreadable !== undefined && <UnreadableNote of={hook.unreadable} />}
            {hook.error !== null && hook.error !== undefined && (
              <Card title="Last error">
                <FailureView of={hook.error} />
              </Card>
            )}
            <Card title="Payload">
              <Value of={hook.payload} label="payload" />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
