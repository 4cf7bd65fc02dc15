import type { HttpError } from "../answers/http-error.ts";
import { type BodyLimits, createDeadline, tooLarge } from "./read-body.ts";

/**
 * Lets a policy read a clone of a request within our own limits: a clone of more is cut off, and so is one that doesn't arrive.
 * Returns what became of clones: the error that the request is to be refused with, if one was cut off.
 */
export function boundClones(request: Request, limits: BodyLimits): { readonly exceeded: () => HttpError | undefined } {
  let exceeded: HttpError | undefined;
  if (request.body === null) return { exceeded: () => exceeded };
  const clone = request.clone.bind(request);
  const refuse = (error: HttpError) => {
    exceeded ??= error;
    return error;
  };
  Object.defineProperty(request, "clone", {
    configurable: true,
    value: () => {
      const copy = clone();
      if (copy.body === null) return copy;
      const body = bounded(copy.body as ReadableStream<Uint8Array>, limits, refuse);
      return new Request(copy, { body, duplex: "half" } as RequestInit);
    },
  });
  return { exceeded: () => exceeded };
}

function bounded(
  source: ReadableStream<Uint8Array>,
  limits: BodyLimits,
  refuse: (error: HttpError) => HttpError,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const deadline = createDeadline(limits);
  let length = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await Promise.race([reader.read(), deadline.passed]);
          if (!done) length += value.byteLength;
          if (length > limits.maxBytes) throw tooLarge(limits.maxBytes);
          if (!done) {
            controller.enqueue(value);
            return;
          }
          deadline.cancel();
          controller.close();
        } catch (error) {
          deadline.cancel();
          void reader.cancel().catch(() => {});
          controller.error(isRefusal(error) ? refuse(error) : error);
        }
      },
      cancel() {
        deadline.cancel();
        return reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

function isRefusal(error: unknown): error is HttpError {
  return error instanceof Error && "status" in error;
}
