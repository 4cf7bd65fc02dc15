import { ConflictError, InvalidInputError, invalidToken } from "../../errors.ts";
import type { Receipt } from "../../store/request-statements.ts";
import { encodeValue } from "../../values/index.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { readTarget, type TokenTarget, tokenEventType } from "./step-token.ts";

/**
 * Ends the wait of a token with a payload. Of several calls, one does; all calls with the same receipt count as one. Whether
 * the wait is still open is for the database to say, by its own time, in the transaction that stores the payload.
 */
export async function completeToken(
  runtime: WorkflowRuntime,
  token: string,
  payload?: unknown,
  receipt?: Receipt,
): Promise<void> {
  const { workflows, store, namespace } = runtime;
  const { name, id, ref, run, step } = await openToken(runtime, token);
  const type = tokenEventType(step);
  const maxBytes = workflows.settings.maxEventBytes;
  const encoded = encodeValue(payload, { label: "payload", maxBytes });
  if (receipt !== undefined && (await store.engine.requests.find({ namespace, key: receipt.key })) !== null) return;
  const event = { namespace, name, id, only: { ref, run }, token: step, eventId: type, type, payload: encoded };
  const sent = await store.instances.sendEvent(receipt === undefined ? event : { ...event, receipt });
  if (sent.result === "repeated") return;
  if (sent.result === "known") throw used();
  if (sent.result !== "sent") throw revoked();
  runtime.touched(sent.ref);
}

/** The wait that a token belongs to; refuses everything that isn't a token of this application. */
export async function openToken({ workflows }: WorkflowRuntime, token: string): Promise<TokenTarget> {
  if (workflows.tokens === null) throw noSecret();
  const text = typeof token === "string" ? await workflows.tokens.keys.open(token) : null;
  if (text === null) throw invalidToken();
  return readTarget(text);
}

function used(): ConflictError {
  return new ConflictError("token.used", "This token was used before: it ends its wait once.");
}

export function revoked(): ConflictError {
  const told = "The wait of this token is over: it ended, timed out or was abandoned, or its run has ended or failed.";
  return new ConflictError("token.revoked", told);
}

export function noSecret(): InvalidInputError {
  return new InvalidInputError(
    "token.no_secret",
    "Tokens need a secret: give the application tokens: { secret }, a text of at least 32 characters, in every process.",
  );
}
