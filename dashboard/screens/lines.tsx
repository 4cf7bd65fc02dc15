import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, path } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { count } from "../data/times.ts";
import type { Explanation, Instance } from "../data/types.ts";
import { Card, Empty, Loaded, Page } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../shell/router.tsx";

/** The oldest of those that wait are explained; each explanation is a question of its own. */
const MOST_EXPLAINED = 30;

interface Line {
  readonly key: string;
  readonly workflowName: string;
  readonly held: number;
  readonly limit: number | null;
  /** When its rate allows the next start. */
  readonly until: string | null;
  readonly waiting: readonly Instance[];
}

/** The limits at which instances stand in line, who is inside and who waits. */
export function LinesPage() {
  const queued = useResource<{ instances: Instance[]; cursor: string | null }>(
    `/instances?status=queued&order=oldest&limit=${MOST_EXPLAINED}`,
  );
  return (
    <Page title="Lines">
      <p class="muted lead">
        Workflows can limit how many instances with the same key run at a time, and how many start in a period.
      </p>
      <Loaded from={queued}>{({ instances, cursor }) => <Lines instances={instances} more={cursor !== null} />}</Loaded>
    </Page>
  );
}

function Lines({ instances, more }: { readonly instances: readonly Instance[]; readonly more: boolean }) {
  const lines = useLines(instances);
  if (instances.length === 0)
    return <Empty title="No instance stands in line">Every queued instance has a free place.</Empty>;
  if (lines === null) return <Empty title="Asking what they wait for …" />;
  if (lines.length === 0)
    return <Empty title="No limit holds up an instance">They are queued for a worker with a free slot.</Empty>;
  return (
    <>
      {lines.map((line) => (
        <LineCard key={`${line.workflowName} ${line.key}`} line={line} />
      ))}
      {more && <p class="muted">Only the oldest {MOST_EXPLAINED} of those that wait are shown.</p>}
    </>
  );
}

function LineCard({ line: { key, workflowName, held, limit, until, waiting } }: { readonly line: Line }) {
  return (
    <Card
      title={
        <>
          {shortKey(key, workflowName)} <small class="faint">{workflowName}</small>
        </>
      }
      tools={
        <Link to={`/workflows?workflow=${encodeURIComponent(workflowName)}&status=running`}>Instances inside</Link>
      }
    >
      {until === null ? (
        <p class="line-state">
          <meter min={0} max={limit ?? Math.max(held, 1)} value={held} aria-label="Slots held" />
          {count(held)} {limit === null ? "slots are held" : `of ${count(limit)} slots are held`},{" "}
          {count(waiting.length)} wait.
        </p>
      ) : (
        <p class="line-state">
          Its rate allows the next start <Time at={until} />, {count(waiting.length)} wait.
        </p>
      )}
      <ol class="line">
        {waiting.map(({ id, createdAt }) => (
          <li key={id}>
            <Link to={`/workflows${path(workflowName, id)}`}>{id}</Link> <Time at={createdAt} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** A key that isn't shared begins with the namespace and the workflow. */
function shortKey(key: string, workflowName: string): string {
  const prefix = `/${workflowName}/`;
  const at = key.indexOf(prefix);
  return at < 0 ? key : key.slice(at + prefix.length);
}

/** One question after another, so that they don't crowd out others. */
function useLines(instances: readonly Instance[]): readonly Line[] | null {
  const lines = useSignal<readonly Line[] | null>(null);
  const wanted = instances.map(({ workflowName, id }) => path(workflowName, id)).join();
  useEffect(() => {
    const gone = new AbortController();
    const read = async () => {
      const found = new Map<string, Line>();
      for (const instance of instances) {
        const { workflowName, id } = instance;
        const url = `/workflows${path(workflowName)}/instances${path(id)}/explain`;
        const explanation = await get<Explanation>(url, gone.signal).catch(() => null);
        if (gone.signal.aborted) return;
        if (explanation !== null) addTo(found, instance, explanation.reason);
      }
      lines.value = [...found.values()];
    };
    void read();
    return () => gone.abort();
  }, [wanted]);
  return lines.value;
}

function addTo(lines: Map<string, Line>, instance: Instance, reason: Explanation["reason"]): void {
  if (reason.reason !== "inLine" && reason.reason !== "rateLimited") return;
  const { workflowName } = instance;
  const key = String(reason["key"]);
  const name = `${workflowName} ${key}`;
  const known = lines.get(name);
  lines.set(name, {
    key,
    workflowName,
    held: Number(reason["held"] ?? 0),
    limit: typeof reason["limit"] === "number" ? reason["limit"] : null,
    until: typeof reason["until"] === "string" ? reason["until"] : null,
    waiting: [...(known?.waiting ?? []), instance],
  });
}
