import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { InvalidInputError } from "../errors.ts";
import type {
  RunTrace,
  Telemetry,
  TraceContext,
  TracedHook,
  TracedRun,
  TracedStep,
  TracedTrigger,
  WorkSpan,
} from "../monitoring/tracing.ts";
import { checkOptions } from "../options.ts";
import { VERSION } from "../version.ts";
import { AttemptSpan } from "./attempt-span.ts";
import { identityOf } from "./run-identity.ts";
import { parseContextText, parseTraceparent, toContextText, toTraceparent } from "./traceparent.ts";

export interface OpenTelemetryOptions {
  /** Default: the global one, as it is when the first span is made. */
  readonly tracerProvider?: TracerProvider;
}

/** The run that the code belongs to: its own spans are children of the root, which is exported whatever happens to a worker. */
const RUN = createContextKey("perdure.run");
/** Workers that a process remembers. It mostly has one. */
const MOST_WORKERS = 100;

/**
 * Spans of hooks, instances and steps for `perdure({ telemetry })`. Uses the tracer provider and the context manager that the
 * application has set up, and changes neither.
 *
 * @example
 * const app = await perdure({ database: "app.db", workflows, telemetry: openTelemetry() });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  checkOptions(options, { label: "openTelemetry", fields: ["tracerProvider"] });
  const { tracerProvider } = options;
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== "function") {
    throw new InvalidInputError("options.invalid", "tracerProvider must be a TracerProvider of OpenTelemetry.");
  }
  return new OpenTelemetry(() => (tracerProvider ?? trace.getTracerProvider()).getTracer("perdure", VERSION));
}

class OpenTelemetry implements Telemetry {
  readonly #getTracer: () => Tracer;
  readonly #workers = new Map<string, SpanContext>();
  #tracer: Tracer | undefined;

  constructor(getTracer: () => Tracer) {
    this.#getTracer = getTracer;
  }

  get #spans(): Tracer {
    this.#tracer ??= this.#getTracer();
    return this.#tracer;
  }

  triggers({ namespace, name }: TracedTrigger): TraceContext | null {
    const sent = this.#produce(`send ${name}`, { ...messaging(name, "send"), "perdure.namespace": namespace });
    if (!isSpanContextValid(sent)) return null;
    const tracestate = sent.traceState?.serialize();
    return { traceparent: toTraceparent(sent), ...(tracestate ? { tracestate } : {}) };
  }

  attempts({ namespace, name, id, attempt, context: given, worker }: TracedHook): WorkSpan {
    const sender = given === null ? null : parseTraceparent(given.traceparent);
    const parent = sender === null ? ROOT_CONTEXT : within(ROOT_CONTEXT, withState(sender, given?.tracestate));
    const attributes = {
      ...messaging(name, "process"),
      "messaging.message.id": id,
      "perdure.namespace": namespace,
      "perdure.attempt": attempt,
      "perdure.worker.id": worker,
    };
    const options = { kind: SpanKind.CONSUMER, attributes, links: this.#linksTo(worker) };
    const span = this.#spans.startSpan(`process ${name}`, options, parent);
    return new AttemptSpan(span, trace.setSpan(parent, span));
  }

  creates({ namespace, name }: TracedTrigger): string | null {
    const sent = this.#produce(`create ${name}`, { "perdure.workflow": name, "perdure.namespace": namespace });
    return isSpanContextValid(sent) ? toContextText(sent) : null;
  }

  runs(run: TracedRun, worker: string): RunTrace {
    const root = rootOf(run);
    const parent = within(ROOT_CONTEXT, root).setValue(RUN, root);
    const links = this.#linksTo(worker);
    return {
      run: (main) => context.with(parent, main),
      begin: (step) => {
        const attributes = { ...describe(run), ...describeStep(step), "perdure.worker.id": worker };
        const name = step.undoes ? `undo ${step.name}` : `step ${step.name}`;
        const span = this.#spans.startSpan(name, { attributes, links }, parent);
        return new AttemptSpan(span, trace.setSpan(parent, span));
      },
    };
  }

  /** The root of a trace is made at its end, with the identity that the spans inside it have known from the beginning. */
  finished(run: TracedRun, outcome: string): void {
    const root = rootOf(run);
    const creator = run.trace === null ? null : parseContextText(run.trace);
    const links = creator === null ? [] : [{ context: creator, attributes: { "perdure.link": "creator" } }];
    const attributes = { ...describe(run), "perdure.outcome": outcome };
    const startTime = run.run === 1 ? run.createdAt : (run.startedAt ?? run.createdAt);
    const options = { attributes, links, startTime };
    const span = this.#spans.startSpan(`workflow ${run.name}`, options, within(ROOT_CONTEXT, root));
    if (!span.isRecording()) return;
    const { traceState } = span.spanContext();
    const identity: SpanContext = { ...root, isRemote: false, ...(traceState && { traceState }) };
    Reflect.set(span, "spanContext", () => identity);
    Reflect.set(span, "parentSpanContext", undefined); // of version 2 of the SDK
    Reflect.set(span, "parentSpanId", undefined); // of version 1
    if (outcome === "errored") span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  /** The span of a sender, whose context is stored with what it sends. Inside a run, its parent is the root of that run. */
  #produce(name: string, attributes: Attributes): SpanContext {
    const active = context.active();
    const root = active.getValue(RUN) as SpanContext | undefined;
    const parent = root === undefined ? active : within(active, root);
    const span = this.#spans.startSpan(name, { kind: SpanKind.PRODUCER, attributes }, parent);
    span.end();
    return span.spanContext();
  }

  /** A worker has one span, which ends as it begins: others link to it. */
  #linksTo(worker: string) {
    let known = this.#workers.get(worker);
    if (known === undefined) {
      const span = this.#spans.startSpan("worker", { root: true, attributes: { "perdure.worker.id": worker } });
      span.end();
      known = span.spanContext();
      if (this.#workers.size >= MOST_WORKERS) this.#workers.clear();
      this.#workers.set(worker, known);
    }
    return isSpanContextValid(known) ? [{ context: known, attributes: { "perdure.link": "worker" } }] : [];
  }
}

/** The root of a run's trace. It is sampled if its creator was, and has the same `tracestate`. */
function rootOf({ ref, run, trace: stored }: TracedRun): SpanContext {
  const creator = stored === null ? null : parseContextText(stored);
  const { traceFlags = TraceFlags.SAMPLED, traceState } = creator ?? {};
  return { ...identityOf(ref, run), traceFlags, isRemote: true, ...(traceState && { traceState }) };
}

function within(outer: Context, parent: SpanContext): Context {
  return trace.setSpanContext(outer, parent);
}

function withState(parent: SpanContext, tracestate: string | undefined): SpanContext {
  return tracestate === undefined ? parent : { ...parent, traceState: createTraceState(tracestate) };
}

function messaging(name: string, type: "send" | "process"): Attributes {
  return {
    "messaging.system": "perdure",
    "messaging.destination.name": name,
    "messaging.operation.name": type,
    "messaging.operation.type": type,
  };
}

function describe({ namespace, name, id, run }: TracedRun): Attributes {
  return { "perdure.namespace": namespace, "perdure.workflow": name, "perdure.instance.id": id, "perdure.run": run };
}

function describeStep({ type, name, count, attempt }: TracedStep): Attributes {
  return {
    "perdure.step.type": type,
    "perdure.step.name": name,
    "perdure.step.count": count,
    "perdure.attempt": attempt,
  };
}
