import { ConflictError, InvalidInputError, invalidToken } from "../../errors.ts";
import type { InstanceRun, JournalEntry } from "../../store/instances/instance-records.ts";
import type { Receipt } from "../../store/request-statements.ts";
import { encodeValue } from "../../values/index.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { readTarget, type TokenTarget, tokenEventType } from "./step-token.ts";

/** Ends the wait of a token with a payload. Of several calls, one does; all calls with the same receipt count as one. */
export async function completeToken(
  runtime: WorkflowRuntime,
  token: string,
  payload?: unknown,
  receipt?: Receipt,
): Promise<void> {
  const { workflows, store, namespace } = runtime;
  const target = await openToken(runtime, token);
  const { name, id, ref, run } = target;
  const type = tokenEventType(target.step);
  const maxBytes = workflows.settings.maxEventBytes;
  const encoded = encodeValue(payload, { label: "payload", maxBytes });
  if (receipt !== undefined && (await store.engine.requests.find({ namespace, key: receipt.key })) !== null) return;
  await refuseEnded(runtime, target);
  const only: InstanceRun = { ref, run };
  const event = { namespace, name, id, only, eventId: type, type, payload: encoded };
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

/** Refuses a token whose wait is over. */
async function refuseEnded(runtime: WorkflowRuntime, { name, id, ref, run, step }: TokenTarget): Promise<void> {
  const { store, namespace } = runtime;
  const instance = { namespace, name, id };
  let after = { position: 0, sequence: 0 };
  for (;;) {
    const [page] = await store.instances.statements.load([{ ref, run, instance, after }]);
    if (page === undefined) throw revoked();
    const own = page.entries.filter((entry) => isOf(entry, step));
    if (own.some(({ kind }) => kind === "received")) throw used();
    const now = store.clock.now();
    if (own.some(({ kind, dueAt }) => kind !== "waiting" || (dueAt !== null && dueAt < now))) throw revoked();
    if (page.more === undefined) return;
    after = {
      position: page.entries.at(-1)?.position ?? after.position,
      sequence: page.events.at(-1)?.sequence ?? after.sequence,
    };
  }
}

function isOf({ type, name, count }: JournalEntry, step: TokenTarget["step"]): boolean {
  return type === "token" && name === step.name && count === step.count;
}

function used(): ConflictError {
  return new ConflictError("token.used", "This token was used before: it ends its wait once.");
}

export function revoked(): ConflictError {
  return new ConflictError("token.revoked", "The wait of this token is over: it ended, timed out or was abandoned.");
}

export function noSecret(): InvalidInputError {
  return new InvalidInputError(
    "token.no_secret",
    "Tokens need a secret: give the application tokens: { secret }, a text of at least 32 characters, in every process.",
  );
}
