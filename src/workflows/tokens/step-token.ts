import { pathOf } from "../execution/steps/step-path.ts";

/** Lets its holder end one wait of a workflow, once, with a payload, and do nothing else. */
export interface StepToken<Payload = unknown> {
  /** Unguessable, and safe in a URL. */
  readonly value: string;
  /** Where to `POST` the payload as `{ payload }`; null unless the application has `tokens.url`. */
  readonly url: string | null;
  /** Waits for the payload. Throws an `EventTimeoutError` after the token's timeout. */
  result(): Promise<Payload>;
}

/** The wait that a token belongs to. */
export interface TokenTarget {
  readonly name: string;
  readonly id: string;
  readonly ref: string;
  readonly run: number;
  readonly step: { readonly name: string; readonly count: number };
}

export function writeTarget({ name, id, ref, run, step }: TokenTarget): string {
  return JSON.stringify([name, id, ref, run, step.name, step.count]);
}

export function readTarget(text: string): TokenTarget {
  const [name, id, ref, run, stepName, count] = JSON.parse(text) as [string, string, string, number, string, number];
  return { name, id, ref, run, step: { name: stepName, count } };
}

/** No event of a caller's has a type that begins like this. */
export function tokenEventType({ name, count }: TokenTarget["step"]): string {
  return `$token ${pathOf({ type: "token", name, count, parent: null })}`;
}
