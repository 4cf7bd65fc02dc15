import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { absolute, count, duration } from "../data/times.ts";
import { Card } from "../parts/page.tsx";
import { toneOf, wordOf } from "../parts/status.tsx";
import type { RunTimes, Segment, Step } from "./steps.ts";
import { TimeScale } from "./time-scale.ts";

const ROW = 30;
/** Rows beyond the edges, so that fast scrolling shows no gaps. */
const SPARE = 8;
const MOST_VISIBLE = 18;
const NARROWEST = 0.0005;
const TICKS = 6;
/** Half the width of a tick's text, and the width of an idle stretch that has room for its length. */
const TICK_PERCENT = 4;
const WIDE_IDLE = 5;

interface Zoom {
  readonly from: number;
  readonly to: number;
}

const ALL: Zoom = { from: 0, to: 1 };

interface WaterfallProps {
  readonly steps: readonly Step[];
  readonly times: RunTimes;
  readonly complete: boolean;
  readonly selected: string | null;
  readonly onSelect: (key: string | null) => void;
}

/** The steps of a run over time. Only the rows in view are in the document, however many steps there are. */
export function Waterfall({ steps, times, complete, selected, onSelect }: WaterfallProps) {
  const collapse = useSignal(true);
  const zoom = useSignal<Zoom>(ALL);
  const top = useSignal(0);
  const view = useRef<HTMLDivElement>(null);
  const scale = useMemo(
    () => new TimeScale(steps, times.startedAt, Math.max(times.until, ...lastOf(steps)), collapse.value),
    [steps, times.startedAt, times.until, collapse.value],
  );
  const visible = Math.min(steps.length, MOST_VISIBLE);
  const first = Math.max(0, Math.floor(top.value / ROW) - SPARE);
  const rows = steps.slice(first, first + visible + 2 * SPARE);
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
      "+": () => (zoom.value = zoomed(zoom.value, 0.5)),
      "-": () => (zoom.value = zoomed(zoom.value, 2)),
      "0": () => (zoom.value = ALL),
      ArrowLeft: () => (zoom.value = moved(zoom.value, -0.2)),
      ArrowRight: () => (zoom.value = moved(zoom.value, 0.2)),
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
                zoom.value = ALL;
              }}
            />
            Collapse idle time
          </label>
          <button
            type="button"
            class="button small"
            aria-label="Zoom out"
            onClick={() => (zoom.value = zoomed(zoom.value, 2))}
          >
            −
          </button>
          <button
            type="button"
            class="button small"
            aria-label="Zoom in"
            onClick={() => (zoom.value = zoomed(zoom.value, 0.5))}
          >
            +
          </button>
          <button type="button" class="button small" disabled={zoom.value === ALL} onClick={() => (zoom.value = ALL)}>
            Show all
          </button>
        </span>
      }
    >
      <Ruler scale={scale} zoom={zoom.value} startedAt={times.startedAt} onZoom={(next) => (zoom.value = next)} />
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
              zoom={zoom.value}
              selected={step.key === selected}
              onSelect={() => onSelect(step.key === selected ? null : step.key)}
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
  if (view === null) return;
  const from = index * ROW;
  if (from < view.scrollTop) view.scrollTop = from;
  else if (from + ROW > view.scrollTop + view.clientHeight) view.scrollTop = from + ROW - view.clientHeight;
}

function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const width = Math.min(Math.max((to - from) * factor, NARROWEST), 1);
  return within((from + to) / 2 - width / 2, width);
}

function moved({ from, to }: Zoom, share: number): Zoom {
  return within(from + (to - from) * share, to - from);
}

function within(from: number, width: number): Zoom {
  if (width >= 1) return ALL;
  const start = Math.min(Math.max(from, 0), 1 - width);
  return { from: start, to: start + width };
}

/** A place in the zoomed view, in percent. */
function toPercent(place: number, { from, to }: Zoom): number {
  return ((place - from) / (to - from)) * 100;
}

interface RowProps {
  readonly step: Step;
  readonly index: number;
  readonly all: number;
  readonly scale: TimeScale;
  readonly zoom: Zoom;
  readonly selected: boolean;
  readonly onSelect: () => void;
}

function Row({ step, index, all, scale, zoom, selected, onSelect }: RowProps) {
  const { name, count: nth, state, depth, from, to, segments } = step;
  const failures = segments.filter(({ failed, kind }) => failed && kind === "work").length;
  return (
    <li class="row" aria-setsize={all} aria-posinset={index + 1} style={{ top: `${index * ROW}px` }}>
      <button type="button" aria-pressed={selected} tabIndex={-1} onClick={onSelect} data-type={step.type}>
        <span class="name" style={{ paddingInlineStart: `${depth * 14}px` }}>
          <i class={`dot tone-${toneOf(state)}`} aria-hidden="true" />
          <span>{name}</span>
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
