import { useSignal } from "@preact/signals";
import { change, get, may, path, query } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { count } from "../data/times.ts";
import type { Explanation, Hook, Statistics } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { ChoiceFilter, ErrorFilter, Pager, TextFilter } from "../parts/fields.tsx";
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
const AT_ONCE = 500;

export function HooksPage() {
  const { data: statistics } = useResource<Statistics>("/stats");
  const get = (name: string) => search.value.get(name);
  const filter = {
    status: get("status"),
    name: get("name"),
    idPrefix: get("id"),
    error: get("error"),
    order: get("order"),
  };
  const list = useResource<HookList>(`/hooks${query({ ...filter, cursor: get("cursor"), limit: PAGE })}`);
  const number = (field: "pending" | "processing" | "failed" | "completed") => {
    const value = statistics?.hooks?.[field] ?? 0;
    return value === 0 ? "" : ` (${count(value)})`;
  };
  const dead = filter.status === "failed";
  return (
    <Page
      title={dead ? "Dead letters" : "Hooks"}
      actions={
        dead &&
        may("operate") && (
          <>
            <button type="button" class="button primary" onClick={() => changeAll("redrive", filter)}>
              Redrive all
            </button>
            <button type="button" class="button danger" onClick={() => changeAll("discard", filter)}>
              Discard all
            </button>
          </>
        )
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TextFilter name="name" label="Name" hint="sendMail" />
        <ChoiceFilter
          name="status"
          label="Status"
          options={[
            ["pending", `due or scheduled${number("pending")}`],
            ["processing", `running${number("processing")}`],
            ["failed", `dead letters${number("failed")}`],
            ["completed", `completed${number("completed")}`],
          ]}
        />
        <TextFilter name="id" label="Id begins with" />
        <ErrorFilter />
        <ChoiceFilter name="order" label="Order" options={[["oldest", "Oldest first"]]} all="Newest first" />
      </form>
      <Loaded from={list}>{(answer) => <HookTable list={answer} />}</Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Hook>[] = [
  {
    title: "Hook",
    kind: "main",
    cell: ({ id, name }) => (
      <span class="id">
        <Link to={`/hooks${path(id)}`}>{name}</Link>
        <small class="faint">{id}</small>
        <Copy text={id} what="id" />
      </span>
    ),
  },
  { title: "Status", cell: (hook) => <Status of={statusOf(hook)} /> },
  { title: "Key", kind: "minor", cell: ({ key }) => key ?? <span class="faint">–</span> },
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

/** All dead letters that match the filter, page by page, oldest first. Those that can't be changed are passed over. */
function changeAll(action: "redrive" | "discard", filter: { readonly name: string | null }): void {
  const name = action === "redrive" ? "Redrive all" : "Discard all";
  ask({
    title: `${name} dead letters?`,
    text:
      filter.name === null
        ? "All hooks that have failed for good."
        : `All hooks with the name “${filter.name}” that have failed for good.`,
    action: name,
    danger: action === "discard",
    act: async () => {
      let done = 0;
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const url = `/hooks${query({ status: "failed", name: filter.name, order: "oldest", limit: AT_ONCE, cursor })}`;
        const page: HookList = await get(url);
        if (page.hooks.length > 0)
          done += await changeHooks(
            action,
            page.hooks.map(({ id }) => id),
          );
        cursor = page.cursor;
      }
      return `${name}: ${count(done)} done.`;
    },
  });
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
