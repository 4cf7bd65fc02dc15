import {
  context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { defineHook, defineWorkflow } from "../../src/index.ts";
import { openTelemetry } from "../../src/telemetry/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { becomes } from "../workflows/support/sample.ts";
import { useWorkflows, withTime } from "../workflows/support/use-workflows.ts";

const DAY_MS = 86_400_000;

/** The spans of some processes, each of which has a provider of its own. */
class Spans {
  readonly #exporters: InMemorySpanExporter[] = [];

  process(sampler?: Sampler) {
    const exporter = new InMemorySpanExporter();
    this.#exporters.push(exporter);
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    return new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  }

  get all(): ReadableSpan[] {
    return this.#exporters.flatMap((exporter) => exporter.getFinishedSpans());
  }

  named(name: string): ReadableSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  one(name: string): ReadableSpan {
    const [span, ...others] = this.named(name);
    if (span === undefined || others.length > 0) throw new Error(`There are ${others.length} more of "${name}".`);
    return span;
  }

  /** Spans whose parent was exported by no process, or that link to what wasn't. */
  get orphans(): string[] {
    const known = new Set(this.all.map((span) => idOf(span.spanContext())));
    return this.all.flatMap((span) => {
      const { parentSpanContext, links, name } = span;
      const wanted = [...(parentSpanContext ? [parentSpanContext] : []), ...links.map((link) => link.context)];
      return wanted.filter((one) => !known.has(idOf(one))).map(() => name);
    });
  }
}

function idOf({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }): string {
  return `${traceId} ${spanId}`;
}

const NEVER: Sampler = { shouldSample: () => ({ decision: SamplingDecision.NOT_RECORD }), toString: () => "never" };

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe.each(ENGINES)("spans of workflows on $name", (engine) => {
  const subject = useWorkflows(engine);

  function processes(sampler?: Sampler) {
    const spans = new Spans();
    let failures = 0;
    const child = defineWorkflow({ name: "child" }, async (_event, step) => step.do("inside", () => "done"));
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await step.do("first", () => trace.getTracer("user").startSpan("of the user").end());
      await step.sleep("a day", "24 hours");
      await step.do("flaky", { retries: { limit: 1, delay: "1 second" } }, async () => {
        if (++failures === 1) throw new TypeError("secret");
        await step.do("nested", async () => 1);
      });
      await step.waitForEvent("go", { type: "go" });
      await (await step.create(child, { id: "child" })).result();
      await step.waitForEvent("on", { type: "on" });
      await step.transaction("booked", async () => 2);
    });
    const start = () => {
      const tracerProvider = spans.process(sampler);
      return subject.start({ parent, child }, { telemetry: openTelemetry({ tracerProvider }) });
    };
    return { spans, start };
  }

  test("are one trace without an orphan, over five processes and a sleep of 24 hours, and replays add none", async () => {
    const { spans, start } = processes();
    const creator = spans.process().getTracer("test").startSpan("request");
    const first = start();
    const instance = await context.with(trace.setSpan(ROOT_CONTEXT, creator), () =>
      first.workflows.parent.create({ id: "one" }),
    );
    creator.end();
    await becomes(instance, "waiting");
    await first.stop();

    const second = start();
    subject.clock.advance(DAY_MS);
    const isAt = async (name: string, count: number) =>
      withTime(subject.clock, () => expect(spans.named(name)).toHaveLength(count));
    await isAt("step flaky", 2);
    await becomes(instance, "waiting");
    await second.stop();
    const third = start();
    await instance.sendEvent({ type: "go", payload: null });
    await isAt("workflow child", 1);
    await becomes(instance, "waiting");
    await third.stop();
    const fourth = start();
    await becomes(instance, "waiting");
    await fourth.stop();
    const fifth = start();
    await instance.sendEvent({ type: "on", payload: null });
    await withTime(subject.clock, async () => expect((await instance.status()).status).toBe("complete"));
    await isAt("workflow parent", 1);
    await fifth.stop();

    expect(spans.orphans).toEqual([]);
    const root = spans.one("workflow parent");
    expect(root.parentSpanContext).toBeUndefined();
    expect(root.attributes).toMatchObject({
      "perdure.workflow": "parent",
      "perdure.instance.id": "one",
      "perdure.run": 1,
      "perdure.outcome": "complete",
    });
    const { traceId } = root.spanContext();
    const inside = spans.all.filter((span) => span.spanContext().traceId === traceId && span !== root);
    const steps = ["first", "flaky", "flaky", "nested", "child", "booked"].map((name) => `step ${name}`);
    expect(
      inside
        .map(({ name }) => name)
        .filter((name) => name.startsWith("step "))
        .sort(),
    ).toEqual(steps.sort());
    for (const span of inside.filter(({ name }) => name.startsWith("step "))) {
      expect(span.parentSpanContext?.spanId, span.name).toBe(root.spanContext().spanId);
      expect(span.links.map(({ attributes }) => attributes?.["perdure.link"])).toEqual(["worker"]);
    }
    const workers = spans.named("worker").map((span) => span.attributes["perdure.worker.id"]);
    expect(workers).toHaveLength(new Set(workers).size);
    expect(workers.length).toBeGreaterThanOrEqual(4);
    expect(spans.one("create parent").parentSpanContext?.spanId).toBe(creator.spanContext().spanId);
    expect(root.links.map((link) => link.context.spanId)).toEqual([spans.one("create parent").spanContext().spanId]);
    const [failed, succeeded] = spans.named("step flaky");
    expect(failed?.attributes).toMatchObject({
      "perdure.outcome": "failed",
      "error.type": "TypeError",
      "perdure.attempt": 1,
    });
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
    expect(succeeded?.attributes).toMatchObject({ "perdure.outcome": "completed", "perdure.attempt": 2 });
    const childRoot = spans.one("workflow child");
    expect(childRoot.spanContext().traceId).not.toBe(traceId);
    expect(spans.one("create child").spanContext().traceId).toBe(traceId);
    expect(JSON.stringify(spans.all.map(({ attributes, events }) => [attributes, events]))).not.toContain("secret");
  });

  test("have their root however a run ends", async () => {
    const { spans, start } = processes();
    const process = start();
    const create = async (id: string) => {
      const instance = await process.workflows.parent.create({ id });
      await becomes(instance, "waiting");
      return instance;
    };
    await (await create("terminated")).terminate();
    await (await create("deleted")).delete();
    const restarted = await create("restarted");
    await restarted.restart();
    await withTime(subject.clock, () => expect(spans.named("step first")).toHaveLength(4));
    await becomes(restarted, "waiting");
    await restarted.terminate();
    await withTime(subject.clock, () => expect(spans.named("workflow parent")).toHaveLength(4));

    expect(spans.orphans).toEqual([]);
    const outcomes = spans.named("workflow parent").map(({ attributes }) => attributes["perdure.outcome"]);
    expect(outcomes.sort()).toEqual(["deleted", "restarted", "terminated", "terminated"]);
  });

  test("begin where the run begins that was restarted, and not where its instance was created", async () => {
    const { spans, start } = processes();
    const process = start();
    const createdAt = subject.clock.now();
    const instance = await process.workflows.parent.create({ id: "again" });
    await becomes(instance, "waiting");
    for (let run = 2; run <= 3; run++) {
      subject.clock.advance(1_000_000);
      await instance.restart();
      await withTime(subject.clock, () => expect(spans.named("step first")).toHaveLength(run));
      await becomes(instance, "waiting");
    }
    await instance.terminate();
    await withTime(subject.clock, () => expect(spans.named("workflow parent")).toHaveLength(3));

    const begun = spans.named("workflow parent").map(({ startTime: [seconds] }) => seconds - createdAt / 1000);
    for (const [index, passed] of begun.entries()) {
      expect(passed).toBeGreaterThanOrEqual(index * 1000);
      expect(passed).toBeLessThan(index * 1000 + 500);
    }
  });

  test("have the tracestate of the code that created the instance, in steps and in the link to it", async () => {
    const { spans, start } = processes();
    const first = start();
    const traceState = createTraceState("vendor=a1,other=2");
    const remote = { traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: TraceFlags.SAMPLED, traceState };
    const instance = await context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () =>
      first.workflows.child.create({ id: "stateful" }),
    );
    await instance.result();
    await withTime(subject.clock, () => expect(spans.named("workflow child")).toHaveLength(1));

    const root = spans.one("workflow child");
    const contexts = [root.spanContext(), root.links[0]?.context, spans.one("step inside").spanContext()];
    expect(contexts.map((one) => one?.traceState?.serialize())).toEqual(contexts.map(() => "vendor=a1,other=2"));
  });

  test("are not recorded where the creator's trace isn't", async () => {
    const { spans, start } = processes(new ParentBasedSampler({ root: NEVER }));
    const process = start();
    const instance = await process.workflows.child.create({ id: "quiet" });
    await instance.result();

    const [record] = await process.store.instances.statements.find([
      { namespace: subject.namespace, name: "child", id: "quiet" },
    ]);
    expect(record?.trace?.endsWith(`-0${TraceFlags.NONE}`)).toBe(true);
    expect(spans.all).toEqual([]);
  });
});

describe.each(ENGINES)("spans of hooks on $name", (engine: TestEngine) => {
  test("have the context of the trigger, and so have the spans inside the handler", async () => {
    const database = await engine.create();
    const spans = new Spans();
    const tracerProvider = spans.process();
    const contexts: unknown[] = [];
    let calls = 0;
    const send = defineHook(
      { retries: { limit: 1, delay: "1 millisecond" } },
      async (_payload: { to: string }, hook) => {
        contexts.push(hook.traceContext);
        tracerProvider.getTracer("user").startSpan("of the handler").end();
        if (++calls === 1) throw new RangeError("secret");
      },
    );
    const app = await perdure({
      database: database.adapter,
      hooks: { send },
      logger: new LogBook(),
      telemetry: openTelemetry({ tracerProvider }),
    });
    const request = tracerProvider.getTracer("user").startSpan("request");
    const { id } = await context.with(trace.setSpan(ROOT_CONTEXT, request), () =>
      app.hooks.send.trigger({ to: "Ada" }),
    );
    request.end();
    await waitUntil("both attempts have ended", () => spans.named("process send").length === 2);
    await app.stop();
    await database.dispose();

    expect(spans.orphans).toEqual([]);
    const { traceId } = request.spanContext();
    const sent = spans.one("send send");
    expect(sent.kind).toBe(SpanKind.PRODUCER);
    expect(contexts).toEqual([1, 2].map(() => ({ traceparent: `00-${traceId}-${sent.spanContext().spanId}-01` })));
    const attempts = spans.named("process send");
    for (const [index, span] of attempts.entries()) {
      expect(span.parentSpanContext?.spanId).toBe(sent.spanContext().spanId);
      expect(span.attributes).toMatchObject({
        "messaging.system": "perdure",
        "messaging.destination.name": "send",
        "messaging.operation.type": "process",
        "messaging.message.id": id,
        "perdure.attempt": index + 1,
        "perdure.outcome": index === 0 ? "retried" : "completed",
      });
    }
    expect(attempts[0]?.attributes["error.type"]).toBe("RangeError");
    expect(spans.named("of the handler").map((span) => span.parentSpanContext?.spanId)).toEqual(
      attempts.map((span) => span.spanContext().spanId),
    );
  });
});

describe("openTelemetry", () => {
  test("refuses what isn't a tracer provider, and an application what isn't telemetry", async () => {
    expect(() => openTelemetry({ tracerProvider: {} as never })).toThrow("tracerProvider must be");
    expect(() => openTelemetry({ provider: null } as never)).toThrow("provider");
    await expect(perdure({ database: ":memory:", telemetry: {} as never })).rejects.toMatchObject({
      code: "options.invalid",
    });
  });

  test("uses the global provider, without which it makes no span and changes nothing", () => {
    const telemetry = openTelemetry();
    const run = { namespace: "app", name: "w", id: "i", ref: "r", run: 1, createdAt: 0, startedAt: 0, trace: null };

    expect(telemetry.creates({ namespace: "app", name: "w" })).toBeNull();
    expect(telemetry.triggers({ namespace: "app", name: "h" })).toBeNull();
    expect(telemetry.runs(run, "worker").run(() => 7)).toBe(7);
    telemetry.finished(run, "complete");
  });
});
