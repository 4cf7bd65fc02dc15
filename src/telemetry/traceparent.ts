import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** Null if it isn't one: other code may have written it. */
export function parseTraceparent(text: string): SpanContext | null {
  const [, version, traceId = "", spanId = "", flags = "00"] = TRACEPARENT.exec(text) ?? [];
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return version === undefined || version === "ff" || !isSpanContextValid(parsed) ? null : parsed;
}

/** As much as every system passes on. */
const LONGEST_STATE = 512;

/** A context as one text: the `traceparent`, and after a space the `tracestate`, if it has one. */
export function toContextText(context: SpanContext): string {
  const state = context.traceState?.serialize() ?? "";
  const shown = toTraceparent(context);
  return state === "" || state.length > LONGEST_STATE ? shown : `${shown} ${state}`;
}

/** Null if it isn't one. */
export function parseContextText(text: string): SpanContext | null {
  const [traceparent = "", ...rest] = text.split(" ");
  const parsed = parseTraceparent(traceparent);
  return parsed === null || rest.length === 0 ? parsed : { ...parsed, traceState: createTraceState(rest.join(" ")) };
}
