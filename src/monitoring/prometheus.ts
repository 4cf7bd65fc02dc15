import { VERSION } from "../version.ts";
import type { HistogramSnapshot } from "./meters/histogram.ts";
import type { Metrics } from "./metrics.ts";

type Labels = Readonly<Record<string, string>>;
type Sample<Value> = readonly [Labels, Value];

/** A metric with all its samples. The name of a counter is given without its suffix `_total`. */
export type MetricFamily = { readonly name: string; readonly help: string } & (
  | { readonly type: "counter" | "gauge"; readonly samples: readonly Sample<number>[] }
  | { readonly type: "histogram"; readonly samples: readonly Sample<HistogramSnapshot>[] }
);

export type TextFormat = "prometheus" | "openmetrics";

/** As Prometheus reads them. */
export function toText(metrics: Metrics, format: TextFormat): string {
  const lines = toFamilies(metrics).flatMap((family) => linesOf(family, metrics.namespace, format));
  return `${lines.join("\n")}\n${format === "openmetrics" ? "# EOF\n" : ""}`;
}

/** Every metric, also one without samples, so that its name is known. */
export function toFamilies(metrics: Metrics): MetricFamily[] {
  return [...hookFamilies(metrics), ...workflowFamilies(metrics), ...storeFamilies(metrics), ...queueFamilies(metrics)];
}

function hookFamilies({ hooks }: Metrics): MetricFamily[] {
  const all = Object.entries(hooks).map(([hook, metrics]) => ({ labels: { hook }, metrics }));
  const outcomes = ["completed", "retried", "failed"] as const;
  return [
    {
      name: "perdure_hook_attempts_started",
      help: "Attempts at hooks that this process has begun.",
      type: "counter",
      samples: all.map(({ labels, metrics }) => [labels, metrics.started]),
    },
    {
      name: "perdure_hook_attempts",
      help: "Attempts at hooks that have ended in this process, by outcome.",
      type: "counter",
      samples: all.flatMap(({ labels, metrics }) =>
        outcomes.map((outcome) => [{ ...labels, outcome }, metrics[outcome]] as const),
      ),
    },
    {
      name: "perdure_hooks_running",
      help: "Handlers of hooks that run in this process.",
      type: "gauge",
      samples: all.map(({ labels, metrics }) => [labels, metrics.running]),
    },
    {
      name: "perdure_hook_queue_seconds",
      help: "From when a hook was due until this process claimed it.",
      type: "histogram",
      samples: all.map(({ labels, metrics }) => [labels, metrics.queueSeconds]),
    },
    {
      name: "perdure_hook_duration_seconds",
      help: "How long handlers of hooks ran in this process.",
      type: "histogram",
      samples: all.map(({ labels, metrics }) => [labels, metrics.durationSeconds]),
    },
  ];
}

function workflowFamilies({ workflows }: Metrics): MetricFamily[] {
  const all = Object.entries(workflows).map(([workflow, metrics]) => ({ labels: { workflow }, metrics }));
  const endings = ["completed", "errored", "terminated"] as const;
  const outcomes = ["completed", "retried", "failed"] as const;
  return [
    {
      name: "perdure_instances_started",
      help: "Instances that have begun in this process.",
      type: "counter",
      samples: all.map(({ labels, metrics }) => [labels, metrics.started]),
    },
    {
      name: "perdure_instances_finished",
      help: "Instances that this process has ended, by outcome.",
      type: "counter",
      samples: all.flatMap(({ labels, metrics }) =>
        endings.map((outcome) => [{ ...labels, outcome }, metrics[outcome]] as const),
      ),
    },
    {
      name: "perdure_instances_running",
      help: "Instances that a worker of this process holds.",
      type: "gauge",
      samples: all.map(({ labels, metrics }) => [labels, metrics.running]),
    },
    {
      name: "perdure_instance_queue_seconds",
      help: "From when an instance was due until this process claimed it.",
      type: "histogram",
      samples: all.map(({ labels, metrics }) => [labels, metrics.queueSeconds]),
    },
    {
      name: "perdure_instance_duration_seconds",
      help: "From the creation of an instance to its end in this process.",
      type: "histogram",
      samples: all.map(({ labels, metrics }) => [labels, metrics.durationSeconds]),
    },
    {
      name: "perdure_step_attempts",
      help: "Attempts at steps that have ended in this process, by outcome.",
      type: "counter",
      samples: all.flatMap(({ labels, metrics }) =>
        outcomes.map((outcome) => [{ ...labels, outcome }, metrics.steps[outcome]] as const),
      ),
    },
    {
      name: "perdure_step_duration_seconds",
      help: "How long attempts at steps ran in this process.",
      type: "histogram",
      samples: all.map(({ labels, metrics }) => [labels, metrics.stepSeconds]),
    },
  ];
}

function storeFamilies({ flushes, claims }: Metrics): MetricFamily[] {
  const writes = Object.entries(flushes).map(([operation, metrics]) => ({ labels: { operation }, metrics }));
  const claimed = Object.entries(claims).map(([kind, metrics]) => ({ labels: { kind }, metrics }));
  return [
    {
      name: "perdure_writes",
      help: "Writes of this process that share flushes, by operation.",
      type: "counter",
      samples: writes.map(({ labels, metrics }) => [labels, metrics.writes]),
    },
    {
      name: "perdure_flush_items",
      help: "How many writes share a flush.",
      type: "histogram",
      samples: writes.map(({ labels, metrics }) => [labels, metrics.items]),
    },
    {
      name: "perdure_flush_seconds",
      help: "How long the database took for a flush.",
      type: "histogram",
      samples: writes.map(({ labels, metrics }) => [labels, metrics.durationSeconds]),
    },
    {
      name: "perdure_flush_failures",
      help: "Flushes that the database refused or didn't answer.",
      type: "counter",
      samples: writes.map(({ labels, metrics }) => [labels, metrics.failures]),
    },
    {
      name: "perdure_claimed",
      help: "Hooks and instances that this process has claimed.",
      type: "counter",
      samples: claimed.map(({ labels, metrics }) => [labels, metrics.claimed]),
    },
    {
      name: "perdure_claim_seconds",
      help: "How long claims took.",
      type: "histogram",
      samples: claimed.map(({ labels, metrics }) => [labels, metrics.durationSeconds]),
    },
  ];
}

/** Of all processes: alike in each of them, so a query takes their maximum. */
function queueFamilies({ queue }: Metrics): MetricFamily[] {
  const states = ["due", "waiting", "running", "inLine"] as const;
  const kinds = queue === null ? [] : (["hooks", "instances"] as const).map((kind) => [kind, queue[kind]] as const);
  return [
    {
      name: "perdure_database_up",
      help: "Whether the database answered the last question for these metrics.",
      type: "gauge",
      samples: [[{}, queue === null ? 0 : 1]],
    },
    {
      name: "perdure_backlog",
      help: "Unfinished hooks and instances of all processes, by state, counted up to 100000.",
      type: "gauge",
      samples: kinds.flatMap(([kind, backlog]) => states.map((state) => [{ kind, state }, backlog[state]] as const)),
    },
    {
      name: "perdure_oldest_due_seconds",
      help: "How long the oldest due hook or instance of all processes has been due; 0 if none is.",
      type: "gauge",
      samples: kinds.map(([kind, { oldestDueMs }]) => [{ kind }, (oldestDueMs ?? 0) / 1000]),
    },
    {
      name: "perdure_dead_letters",
      help: "Hooks that failed for good, counted up to 10000.",
      type: "gauge",
      samples: queue === null ? [] : [[{}, queue.deadLetters]],
    },
    {
      name: "perdure_workers",
      help: "Workers of all processes, by whether they live.",
      type: "gauge",
      samples:
        queue === null
          ? []
          : [
              [{ state: "alive" }, queue.workers.alive],
              [{ state: "dead" }, queue.workers.dead],
            ],
    },
    {
      name: "perdure_build",
      help: "The version of Perdure that this process runs. Always 1.",
      type: "gauge",
      samples: [[{ version: VERSION }, 1]],
    },
  ];
}

function linesOf(family: MetricFamily, namespace: string, format: TextFormat): string[] {
  const { name, help, type } = family;
  const declared = type === "counter" && format === "prometheus" ? `${name}_total` : name;
  const heading = [`# HELP ${declared} ${help}`, `# TYPE ${declared} ${type}`];
  if (family.type === "histogram") {
    return heading.concat(
      family.samples.flatMap(([labels, value]) => histogramLines(name, { namespace, ...labels }, value)),
    );
  }
  const sampled = type === "counter" ? `${name}_total` : name;
  return heading.concat(
    family.samples.map(([labels, value]) => `${sampled}${toLabels({ namespace, ...labels })} ${value}`),
  );
}

function histogramLines(name: string, labels: Labels, { count, sum, buckets }: HistogramSnapshot): string[] {
  const line = (le: string, value: number) => `${name}_bucket${toLabels({ ...labels, le })} ${value}`;
  return [
    ...buckets.map((bucket) => line(toFloat(bucket.upTo), bucket.count)),
    line("+Inf", count),
    `${name}_sum${toLabels(labels)} ${sum}`,
    `${name}_count${toLabels(labels)} ${count}`,
  ];
}

/** OpenMetrics wants bounds as floats, always written alike. */
function toFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function toLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${quoted(value)}"`);
  return `{${pairs.join(",")}}`;
}

function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
