import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series {
  readonly label: string;
  /** A custom property with the colour. */
  readonly color: string;
  readonly values: readonly number[];
}

const HEIGHT = 180;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** A chart over time. The library comes with the first chart, so that the other screens don't wait for it. */
export function Chart({
  label,
  times,
  series,
}: {
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const data = [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
  useEffect(() => {
    let gone = false;
    let stop = () => {};
    void import("uplot").then(({ default: Plot }) => {
      const element = place.current;
      if (gone || element === null) return;
      const style = getComputedStyle(element);
      const color = (name: string) => style.getPropertyValue(name).trim();
      const axis = { stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
      const options: uPlot.Options = {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        scales: { y: { range: (_, __, most) => [0, Math.max(4, Math.ceil(most * 1.15))] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            values: (_, times) => times.map((time) => CLOCK.format(time * 1000)),
          },
          {
            ...axis,
            size: 44,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000],
          },
        ],
        series: [
          {},
          ...series.map((one) => ({
            label: one.label,
            stroke: color(one.color),
            fill: `${color(one.color)}1f`,
            width: 1.75,
            points: { show: false },
          })),
        ],
      };
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
          {series.map((one) => (
            <li key={one.label}>
              <i style={{ background: `var(${one.color})` }} aria-hidden="true" />
              {one.label}{" "}
              <span class="number">{one.values.reduce((sum, value) => sum + value, 0).toLocaleString("en")}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}
