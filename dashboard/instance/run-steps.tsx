import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { now } from "../data/times.ts";
import type { EarlierRun, Explanation, Instance } from "../data/types.ts";
import { Empty } from "../parts/page.tsx";
import { search, setSearch } from "../shell/router.tsx";
import { ChildReader, type ReadChildren, withChildren } from "./child-steps.tsx";
import { StepDetail } from "./step-detail.tsx";
import { type BegunStep, toSteps } from "./steps.ts";
import type { RunHistory } from "./use-history.ts";
import { Waterfall } from "./waterfall.tsx";

interface RunStepsProps {
  readonly instance: Instance;
  readonly explanation: Explanation | null;
  readonly run: number;
  readonly earlier: EarlierRun | undefined;
  readonly history: RunHistory;
}

/**
 * The steps of a run over time, and everything about the one that is selected. Which one that is, and what is open, is in the
 * URL.
 */
export function RunSteps({ instance, explanation, run, earlier, history }: RunStepsProps) {
  const read = useSignal<ReadChildren>(new Map());
  const present = run === instance.run;
  const { startedAt, finishedAt } = earlier ?? instance;
  const finished = earlier !== undefined || instance.finishedAt !== null;
  const until = finishedAt === null ? now.value : Date.parse(finishedAt);
  const begin = Date.parse(startedAt ?? instance.createdAt);
  const begun = present ? begunStep(explanation) : null;
  const times = useMemo(() => ({ startedAt: begin, until, finished }), [begin, until, finished]);
  const own = useMemo(
    () => toSteps(history.entries, times, begun),
    [history.entries, times, begun === null ? "" : JSON.stringify(begun)],
  );
  const opened = new Set(search.value.getAll("open"));
  const selected = search.value.get("step");
  const steps = withChildren(own, opened, read.value);
  if (steps.length === 0) return <Empty title="No step has ended yet" />;
  const change = (fields: Parameters<typeof setSearch>[0]) => setSearch(fields, { replace: true });
  const step = steps.find(({ key }) => key === selected) ?? null;
  const toggle = (key: string) => {
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    return [...next];
  };
  return (
    <>
      {steps.map(
        ({ key, child, expands }) =>
          child !== null &&
          expands &&
          opened.has(key) && <ChildReader key={`${run} ${key}`} parent={key} child={child} into={read} />,
      )}
      <Waterfall
        steps={steps}
        opened={opened}
        times={times}
        complete={history.complete}
        selected={selected}
        onSelect={(key) => change({ step: key })}
        onToggle={(key) => change({ step: opened.has(key) ? null : key, open: toggle(key) })}
      />
      {step !== null && (
        <StepDetail
          key={step.key}
          step={step}
          instance={instance}
          current={present && own.includes(step)}
          onClose={() => change({ step: null })}
        />
      )}
    </>
  );
}

function begunStep(explanation: Explanation | null): BegunStep | null {
  const { reason, ...rest } = explanation?.reason ?? { reason: "" };
  return reason === "running" ? ((rest as { step?: BegunStep | null }).step ?? null) : null;
}
