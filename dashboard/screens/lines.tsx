import { path, query } from "../data/api.ts";
import { shownKey } from "../data/lines.ts";
import { useResource } from "../data/live.ts";
import { count, duration, now } from "../data/times.ts";
import { ChoiceFilter, Filters, Pager } from "../parts/fields.tsx";
import { Card, Empty, Loaded, Page } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { Link, search } from "../shell/router.tsx";

interface Member {
  readonly workflowName: string;
  readonly id: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
}

interface Line {
  readonly kind: "concurrency" | "rateLimit";
  readonly key: string;
  readonly workflowName: string;
  readonly limit: number | null;
  readonly periodMs: number | null;
  readonly running: number;
  readonly inside: readonly Member[];
  readonly waiting: number;
  readonly next: readonly Member[];
  readonly looksAt: string | null;
}

const PAGE = 20;
/** The server counts no further. */
const MOST_COUNTED = 1000;

/** The limits at which instances stand in line: who is inside, and who waits. */
export function LinesPage() {
  const all = search.value.get("show") === "all";
  const filter = query({ waiting: all ? null : "true", limit: PAGE, cursor: search.value.get("cursor") });
  const found = useResource<{ lines: Line[]; cursor: string | null }>(`/lines${filter}`);
  return (
    <Page title="Lines">
      <p class="muted lead">
        Workflows can limit how many instances with the same key run at a time, and how many start in a period.
      </p>
      <Filters>
        <ChoiceFilter
          name="show"
          label="Show"
          all="In which an instance waits"
          options={[["all", "All whose keys are in use"]]}
        />
      </Filters>
      <Loaded from={found}>
        {({ lines, cursor }) => (
          <>
            {lines.length === 0 && cursor === null && (
              <Empty title={all ? "No limit is in use" : "No instance waits for a limit"}>
                {all
                  ? "Lines appear here when instances of workflows with limits run or wait."
                  : "Instances that are queued wait for a worker with a free slot."}
              </Empty>
            )}
            {lines.length === 0 && cursor !== null && <Empty title="None among these lines" />}
            {lines.map((line) => (
              <LineCard key={`${line.kind} ${line.key}`} line={line} />
            ))}
            <Pager cursor={cursor} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function LineCard({ line }: { readonly line: Line }) {
  const { key, workflowName, inside, next, running, waiting } = line;
  return (
    <Card
      class="line-card"
      title={
        <>
          {shownKey(key, workflowName)}{" "}
          <Link to={`/workflows?workflow=${encodeURIComponent(workflowName)}`} class="faint">
            {workflowName}
          </Link>
        </>
      }
    >
      {line.kind === "concurrency" ? <Slots line={line} /> : <Starts line={line} />}
      {inside.length > 0 && <Members title="Inside" of={inside} more={running - inside.length} since="startedAt" />}
      {next.length > 0 && <Members title="Waiting" of={next} more={waiting - next.length} since="createdAt" numbered />}
    </Card>
  );
}

function Slots({ line: { limit, running, waiting, periodMs, looksAt } }: { readonly line: Line }) {
  const rated = periodMs !== null && waiting > 0 && looksAt !== null && Date.parse(looksAt) > now.value;
  return (
    <p class="line-state">
      {limit !== null && <Gauge value={running} most={limit} />}
      <span>
        {limit === null
          ? `${atLeast(running)} slots are held`
          : `${atLeast(running)} of ${count(limit)} slots are held`}
        , {atLeast(waiting)} wait.{" "}
        {rated && (
          <>
            The rate allows the next start <Time at={looksAt} />.
          </>
        )}
      </span>
    </p>
  );
}

function Gauge({ value, most }: { readonly value: number; readonly most: number }) {
  const share = Math.min(value / Math.max(most, 1), 1);
  return (
    <span class={share < 1 ? "gauge" : "gauge full"} aria-hidden="true">
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}

function Starts({ line: { limit, periodMs, waiting, looksAt } }: { readonly line: Line }) {
  return (
    <p class="line-state">
      <span>
        {limit !== null && periodMs !== null && `At most ${count(limit)} start in ${duration(periodMs)}. `}
        {atLeast(waiting)} wait.{" "}
        {waiting > 0 && looksAt !== null && (
          <>
            The next starts <Time at={looksAt} />.
          </>
        )}
      </span>
    </p>
  );
}

function atLeast(number: number): string {
  return number >= MOST_COUNTED ? `${count(number)} or more` : count(number);
}

function Members(props: {
  readonly title: string;
  readonly of: readonly Member[];
  readonly more: number;
  readonly since: "createdAt" | "startedAt";
  readonly numbered?: boolean;
}) {
  const { title, of, more, since, numbered = false } = props;
  return (
    <>
      <h3>{title}</h3>
      <ol class={numbered ? "line numbered" : "line"}>
        {of.map((member) => (
          <li key={`${member.workflowName}/${member.id}`}>
            <Link to={`/workflows${path(member.workflowName, member.id)}`}>{member.id}</Link>{" "}
            <Time at={member[since]} />
          </li>
        ))}
        {more > 0 && <li class="muted rest">and {atLeast(more)} more</li>}
      </ol>
    </>
  );
}
