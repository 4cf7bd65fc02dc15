import { type Context, context, type Span, SpanStatusCode } from "@opentelemetry/api";
import { PerdureError } from "../errors.ts";
import type { WorkSpan } from "../monitoring/tracing.ts";

/** The span of an attempt at a hook or a step. */
export class AttemptSpan implements WorkSpan {
  readonly #span: Span;
  readonly #inside: Context;
  #ended = false;

  constructor(span: Span, inside: Context) {
    this.#span = span;
    this.#inside = inside;
  }

  run<Result>(body: () => Result): Result {
    return context.with(this.#inside, body);
  }

  /** Messages of errors may have users' values, so only the type is shown. */
  end(outcome: string, error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#span.setAttribute("perdure.outcome", outcome);
    if (error !== undefined) {
      this.#span.setAttribute("error.type", typeOf(error));
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

function typeOf(error: unknown): string {
  if (error instanceof PerdureError) return error.code;
  return error instanceof Error ? error.name.slice(0, 100) : typeof error;
}
