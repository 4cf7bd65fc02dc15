import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Meter } from "../../src/monitoring/meters/meter.ts";
import type { Metrics } from "../../src/monitoring/metrics.ts";
import { readMetrics } from "../../src/monitoring/metrics.ts";
import { toFamilies, toText } from "../../src/monitoring/prometheus.ts";
import type { Store } from "../../src/store/store.ts";
import { ControlledClock } from "../support/controlled-clock.ts";

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../docs/${path}`, import.meta.url)), "utf8");
const dashboard = JSON.parse(read("grafana-dashboard.json")) as { readonly panels: readonly Panel[] };

/** What the application answers where there is one hook and one workflow. */
async function sampleMetrics(): Promise<Metrics> {
  const clock = new ControlledClock();
  const meter = new Meter(clock);
  meter.of("app").hooks.of("send").begin(1);
  meter.of("app").workflows.of("checkout").start();
  const backlog = { due: 0, waiting: 0, running: 0, inLine: 0, oldestDueMs: null };
  const counted = { hooks: backlog, instances: backlog, deadLetters: 0 };
  const engine = { backlog: { read: async () => counted } };
  return readMetrics({ clock, meter, engine, workers: { list: async () => [] } } as unknown as Store, "app");
}

const metrics = await sampleMetrics();
const families = toFamilies(metrics);
/** The names of all samples, and the labels that each has. */
const samples = new Map<string, Set<string>>();
for (const [, name = "", labels = ""] of toText(metrics, "prometheus").matchAll(/^(perdure_\w+)\{(.*)\} /gm)) {
  const known = samples.get(name) ?? new Set();
  for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
  samples.set(name, known);
}

/** Each metric of an expression of Prometheus that doesn't exist, and each label by which it selects that it doesn't have. */
function mistakesIn(expression: string): string[] {
  const used = [...expression.matchAll(/\b(perdure_\w+)(?:\{([^}]*)\})?/g)];
  const unknown = used.filter(([, name = ""]) => !samples.has(name)).map(([, name = ""]) => name);
  const labels = used.flatMap(([, name = "", selectors = ""]) =>
    Array.from(selectors.matchAll(/(\w+)\s*(?:=|!)/g), ([, label = ""]) => label)
      .filter((label) => samples.get(name)?.has(label) === false)
      .map((label) => `${name}{${label}}`),
  );
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(/,\s*/));
  const ungrouped = grouped.filter((label) => !used.some(([, name = ""]) => samples.get(name)?.has(label)));
  const open = expression.split("(").length - expression.split(")").length;
  return [...unknown, ...labels, ...ungrouped, ...(open === 0 && used.length > 0 ? [] : [`malformed: ${expression}`])];
}

describe("the dashboard for Grafana", () => {
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

  test("asks only for metrics and labels that exist", () => {
    expect(expressions.length).toBeGreaterThan(25);
    expect(expressions.flatMap(mistakesIn)).toEqual([]);
  });

  test("shows every metric", () => {
    const shown = expressions.join("\n");
    expect(families.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([]);
  });

  test("has panels that don't overlap, each with a title and an id of its own", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("the alert rules", () => {
  const rules = read("alert-rules.yml")
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((text) => {
      const [name = ""] = text.split("\n");
      const [, expression = ""] = /^ {8}expr: (?:\|\n)?([\s\S]*?)(?=^ {8}\w+:)/m.exec(text) ?? [];
      const fields = Array.from(text.matchAll(/^ {8}(\w+):/gm), ([, field = ""]) => field);
      return { name, expression: expression.trim(), fields, text };
    });

  test("ask only for metrics and labels that exist", () => {
    expect(rules.length).toBeGreaterThan(8);
    for (const { name, expression } of rules) expect(mistakesIn(expression), name).toEqual([]);
  });

  test("have names of their own, severities, and summaries whose labels the expression keeps", () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    for (const { name, expression, fields, text } of rules) {
      expect(fields, name).toEqual(expect.arrayContaining(["expr", "labels", "annotations"]));
      expect(text, name).toMatch(/labels: \{ severity: (critical|warning) \}/);
      for (const [, label = ""] of text.matchAll(/\$labels\.(\w+)/g)) {
        expect(expression, name).toMatch(new RegExp(`\\bby \\([^)]*\\b${label}\\b`));
      }
    }
  });
});

describe("the page on monitoring", () => {
  test("names every metric, and no other", () => {
    const page = read("monitoring.md");
    const named = new Set(
      Array.from(page.matchAll(/`(perdure_\w+)`/g), ([, name = ""]) => name.replace(/_total$/, "")),
    );
    expect([...named].sort()).toEqual(families.map(({ name }) => name).sort());
  });
});
