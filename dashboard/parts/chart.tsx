import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { count } from "../data/times.ts";
import "uplot/dist/uPlot.min.css";

export interface Series {
  readonly label: string;
  /** A custom property with the colour. */
  readonly color: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly label: string;
  readonly times: readonly number[];
  /** Drawn on top of each other, the first at the bottom. */
  readonly series: readonly Series[];
}

const HEIGHT = 118;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
/** The share of its minute that a bar takes, and its width in pixels at most. */
/** In seconds: the first and the last bar are drawn whole. */
const HALF_MINUTE = 30;
const BAR_SIZE: [number, number] = [0.72, 26];

/** Bars over time. The library comes with the first chart, so that the other screens don't wait for it. */
export function Chart({ label, times, series }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const hovered = useSignal<number | null>(null);
  const data = [times.map((time) => time / 1000), ...stack(series)] as uPlot.AlignedData;
  const at = hovered.value;
  useEffect(() => {
    let gone = false;
    let stop = () => {};
    void import("uplot").then(({ default: Plot }) => {
      const element = place.current;
      if (gone || element === null) return;
      const options = optionsOf(Plot, element, series, (index) => (hovered.value = index));
      const plot = new Plot(options, data, element);
      chart.current = plot;
      const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
      watch.observe(element);
      stop = () => {
        watch.disconnect();
        plot.destroy();
        chart.current = null;
      };
    });
    return () => {
      gone = true;
      stop();
    };
  }, [series.map((one) => one.label).join()]);
  useEffect(() => chart.current?.setData(data));
  return (
    <figure class="chart">
      <figcaption>
        <strong>{label}</strong>
        <ul class="legend">
          {at !== null && <li>{CLOCK.format(times[at])}</li>}
          {series.map((one) => (
            <li key={one.label}>
              <i style={{ background: `var(${one.color})` }} aria-hidden="true" />
              {one.label} <span class="number">{count(at === null ? sum(one.values) : (one.values[at] ?? 0))}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The highest first, so that each covers the lower part of the one before. */
function stack(series: readonly Series[]): number[][] {
  const tops = series.map((_, index) =>
    (series[0]?.values ?? []).map((_, at) => sum(series.slice(0, index + 1).map(({ values }) => values[at] ?? 0))),
  );
  return tops.reverse();
}

function optionsOf(
  Plot: typeof uPlot,
  element: HTMLElement,
  series: readonly Series[],
  onHover: (index: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: color("--muted"), ticks: { show: false } };
  const paths = Plot.paths.bars?.({ size: BAR_SIZE, radius: 0.15 });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
    scales: {
      x: { range: (_, first, last) => [first - HALF_MINUTE, last + HALF_MINUTE] },
      y: { range: (_, __, most) => [0, Math.max(4, Math.ceil(most * 1.1))] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        values: (_, times) => times.map((time) => CLOCK.format(time * 1000)),
      },
      {
        ...axis,
        grid: { stroke: color("--line"), width: 1 },
        size: 44,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000],
        values: (_, numbers) => numbers.map(count),
      },
    ],
    series: [
      {},
      ...[...series].reverse().map((one) => ({
        label: one.label,
        stroke: color(one.color),
        fill: color(one.color),
        width: 0,
        points: { show: false },
        ...(paths === undefined ? {} : { paths }),
      })),
    ],
  };
}
