import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { absolute, count, duration } from "../data/times.ts";
import { Card } from "../parts/page.tsx";
import { toneOf, wordOf } from "../parts/status.tsx";
import { search } from "../shell/router.tsx";
import type { RunTimes, Segment, Step } from "./steps.ts";
import { TimeScale } from "./time-scale.ts";
import { ALL, moved, NARROWEST, readZoom, setZoom, toPercent, within, type Zoom, zoomed } from "./zoom.ts";

const ROW = 30;
/** Rows beyond the edges, so that fast scrolling shows no gaps. */
const SPARE = 8;
const MOST_VISIBLE = 18;
const TICKS = 6;
/** Half the width of a tick's text, and the width of an idle stretch that has room for its length. */
const TICK_PERCENT = 4;
const WIDE_IDLE = 5;

interface WaterfallProps {
  readonly steps: readonly Step[];
  /** The keys of the steps whose children are shown. */
  readonly opened: ReadonlySet<string>;
  readonly times: RunTimes;
  readonly complete: boolean;
  readonly selected: string | null;
  readonly onSelect: (key: string | null) => void;
  /** Shows or hides the steps of the child below a step. */
  readonly onToggle: (key: string) => void;
}

/** The steps of a run over time. Only the rows in view are in the document, however many steps there are. */
export function Waterfall({ steps, opened, times, complete, selected, onSelect, onToggle }: WaterfallProps) {
  const collapse = useSignal(true);
  const zoom = readZoom(search.value.get("zoom"));
  const top = useSignal(0);
  const view = useRef<HTMLDivElement>(null);
  const scale = useMemo(
    () => new TimeScale(steps, times.startedAt, Math.max(times.until, ...lastOf(steps)), collapse.value),
    [steps, times.startedAt, times.until, collapse.value],
  );
  const visible = Math.min(steps.length, MOST_VISIBLE);
  const first = Math.max(0, Math.floor(top.value / ROW) - SPARE);
  const rows = steps.slice(first, first + visible + 2 * SPARE);
  useLayoutEffect(
    () =>
      scrollTo(
        view.current,
        steps.findIndex(({ key }) => key === selected),
      ),
    [],
  );
  const select = (index: number) => {
    const step = steps[Math.min(Math.max(index, 0), steps.length - 1)];
    if (step === undefined) return;
    onSelect(step.key);
    scrollTo(view.current, steps.indexOf(step));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = steps.findIndex(({ key }) => key === selected);
    const action = {
      ArrowDown: () => select(at + 1),
      ArrowUp: () => select(at - 1),
      Home: () => select(0),
      End: () => select(steps.length - 1),
      Escape: () => onSelect(null),
      Enter: () => {
        const step = steps[at];
        if (step?.expands) onToggle(step.key);
      },
      "+": () => setZoom(zoomed(zoom, 0.5)),
      "-": () => setZoom(zoomed(zoom, 2)),
      "0": () => setZoom(ALL),
      ArrowLeft: () => setZoom(moved(zoom, -0.2)),
      ArrowRight: () => setZoom(moved(zoom, 0.2)),
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  return (
    <Card
      class="waterfall"
      title={`${count(steps.length)} ${steps.length === 1 ? "step" : "steps"}${complete ? "" : ", and more"}`}
      tools={
        <span class="row-buttons">
          <label class="check">
            <input
              type="checkbox"
              checked={collapse.value}
              onChange={(event) => {
                collapse.value = event.currentTarget.checked;
                setZoom(ALL);
              }}
            />
            Collapse idle time
          </label>
          <button type="button" class="button small" aria-label="Zoom out" onClick={() => setZoom(zoomed(zoom, 2))}>
            −
          </button>
          <button type="button" class="button small" aria-label="Zoom in" onClick={() => setZoom(zoomed(zoom, 0.5))}>
            +
          </button>
          <button type="button" class="button small" disabled={zoom === ALL} onClick={() => setZoom(ALL)}>
            Show all
          </button>
        </span>
      }
    >
      <Ruler scale={scale} zoom={zoom} startedAt={times.startedAt} onZoom={setZoom} />
      <section
        ref={view}
        class="rows"
        aria-label="Steps"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        style={{ height: `${visible * ROW}px` }}
        onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <ol style={{ height: `${steps.length * ROW}px` }}>
          {rows.map((step, index) => (
            <Row
              key={step.key}
              step={step}
              index={first + index}
              all={steps.length}
              scale={scale}
              zoom={zoom}
              selected={step.key === selected}
              opened={opened.has(step.key)}
              onSelect={() => (step.expands ? onToggle(step.key) : onSelect(step.key === selected ? null : step.key))}
            />
          ))}
        </ol>
      </section>
      <Legend />
    </Card>
  );
}

function lastOf(steps: readonly Step[]): number[] {
  let last = Number.NEGATIVE_INFINITY;
  for (const { segments } of steps) {
    for (const { kind, to } of segments) if (kind !== "retry") last = Math.max(last, to);
  }
  return [last];
}

function scrollTo(view: HTMLElement | null, index: number): void {
  if (view === null || index < 0) return;
  const from = index * ROW;
  if (from < view.scrollTop) view.scrollTop = from;
  else if (from + ROW > view.scrollTop + view.clientHeight) view.scrollTop = from + ROW - view.clientHeight;
}

interface RowProps {
  readonly step: Step;
  readonly index: number;
  readonly all: number;
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  readonly selected: boolean;
  /** Whether the steps of its child are shown. */
  readonly opened: boolean;
  readonly onSelect: () => void;
}

function Row({ step, index, all, scale, zoom, selected, opened, onSelect }: RowProps) {
  const { type, title, expands, count: nth, state, depth, from, to, segments } = step;
  const failures = segments.filter(({ failed, kind }) => failed && kind === "work").length;
  return (
    <li class="row" aria-setsize={all} aria-posinset={index + 1} style={{ top: `${index * ROW}px` }}>
      <button
        type="button"
        aria-pressed={selected}
        aria-expanded={expands ? opened : undefined}
        tabIndex={-1}
        onClick={onSelect}
        data-type={type}
      >
        <span class="name" style={{ paddingInlineStart: `${depth * 14}px` }}>
          <i class={`dot tone-${toneOf(state)}`} aria-hidden="true" />
          <span>{title}</span>
          {expands && <i class="chevron" aria-hidden="true" />}
          {type === "result" && <small>result</small>}
          {nth > 1 && <small>#{nth}</small>}
          {failures > 1 && <small class="failures">{failures} failures</small>}
          <span class="out-of-sight">{wordOf(state)}</span>
        </span>
        <span class="track" aria-hidden="true">
          {segments.map((segment) => (
            <Bar key={`${segment.kind}${segment.from}`} segment={segment} scale={scale} zoom={zoom} />
          ))}
        </span>
        <span class="took number">{duration(to - from)}</span>
      </button>
    </li>
  );
}

function Bar({ segment, scale, zoom }: { readonly segment: Segment; readonly scale: TimeScale; readonly zoom: Zoom }) {
  const { kind, from, to, failed, soft, open } = segment;
  const start = Math.max(toPercent(scale.place(from), zoom), -1);
  const end = Math.min(toPercent(scale.place(to), zoom), 101);
  if (end < 0 || start > 100) return null;
  const names = [`bar ${kind}`, failed ? "failed" : "", soft ? "soft" : "", open ? "open" : ""]
    .filter(Boolean)
    .join(" ");
  const style = { left: `${start}%`, width: `${Math.max(end - start, 0)}%` };
  return <i class={names} style={style} title={`${duration(to - from)} from ${absolute(from)}`} />;
}

/** Times above the rows. Dragging over it zooms. */
function Ruler(props: {
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  readonly startedAt: number;
  readonly onZoom: (zoom: Zoom) => void;
}) {
  const { scale, zoom, startedAt, onZoom } = props;
  const brush = useSignal<Zoom | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    brush.value = null;
  }, [scale]);
  const at = (event: PointerEvent) => {
    const box = place.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  };
  const end = () => {
    const drawn = brush.value;
    brush.value = null;
    if (drawn === null || Math.abs(drawn.to - drawn.from) < 0.01) return;
    const [left, right] = drawn.from < drawn.to ? [drawn.from, drawn.to] : [drawn.to, drawn.from];
    const width = zoom.to - zoom.from;
    onZoom(within(zoom.from + left * width, Math.max((right - left) * width, NARROWEST)));
  };
  const ticks = Array.from({ length: TICKS }, (_, index) => (index + 0.5) / TICKS);
  const idle = scale.stretches
    .filter(({ collapsed }) => collapsed)
    .map(({ from, to, start, width }) => {
      const left = toPercent(start, zoom);
      return { length: duration(to - from), from, left, width: (width / (zoom.to - zoom.from)) * 100 };
    });
  const isClear = (tick: number) =>
    !idle.some(({ left, width }) => tick * 100 + TICK_PERCENT > left && tick * 100 - TICK_PERCENT < left + width);
  return (
    <div class="ruler" aria-hidden="true">
      <span class="name">Drag to zoom</span>
      <div
        ref={place}
        class="track"
        onPointerDown={(event) => {
          place.current?.setPointerCapture(event.pointerId);
          brush.value = { from: at(event), to: at(event) };
        }}
        onPointerMove={(event) => {
          if (brush.value !== null) brush.value = { ...brush.value, to: at(event) };
        }}
        onPointerUp={end}
        onPointerCancel={() => (brush.value = null)}
      >
        {ticks.filter(isClear).map((tick) => (
          <span key={tick} class="tick" style={{ left: `${tick * 100}%` }}>
            +{duration(scale.timeAt(zoom.from + tick * (zoom.to - zoom.from)) - startedAt)}
          </span>
        ))}
        {idle.map(({ from, length, left, width }) => (
          <span
            key={from}
            class="idle"
            title={`Nothing ran for ${length}`}
            style={{ left: `${left}%`, width: `${width}%` }}
          >
            {width >= WIDE_IDLE && length}
          </span>
        ))}
        {brush.value !== null && (
          <i
            class="brush"
            style={{
              left: `${Math.min(brush.value.from, brush.value.to) * 100}%`,
              width: `${Math.abs(brush.value.to - brush.value.from) * 100}%`,
            }}
          />
        )}
      </div>
      <span class="took" />
    </div>
  );
}

function Legend() {
  return (
    <ul class="bar-legend">
      {(["work", "work failed", "retry", "sleep", "wait", "rollback"] as const).map((kind) => (
        <li key={kind}>
          <i class={`bar ${kind}`} aria-hidden="true" />
          {
            {
              work: "work",
              "work failed": "failed attempt",
              retry: "until the retry",
              sleep: "sleep",
              wait: "wait",
              rollback: "rollback",
            }[kind]
          }
        </li>
      ))}
    </ul>
  );
}
