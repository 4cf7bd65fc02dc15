import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { InvalidInputError } from "../../errors.ts";
import {
  type EventInsert,
  type EventInsertResult,
  INSTANCE_STATUSES,
  type InstanceFilter,
  type InstanceRecord,
  type InstanceRun,
  UNFINISHED_STATUSES,
} from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { parseLabels } from "../define/labels.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { SentEvent } from "./instance.ts";
import { endOfPage } from "./lists/end-of-page.ts";
import { prepareEvent } from "./prepare-event.ts";
import { inBatches, type SentBatch } from "./sent-batches.ts";
import type { SentToAll } from "./workflow-binding.ts";

/** How many instances are read and sent to at once. */
const MOST_AT_ONCE = 100;

type LabelledEvent = SentEvent<string, unknown> & { readonly labels: unknown };

/** Sends an event to all unfinished instances with these labels, batch by batch. */
export async function sendToAll(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  event: LabelledEvent,
): Promise<SentToAll> {
  return inBatches((cursor) => sendToBatch(runtime, workflow, event, cursor));
}

/**
 * Sends an event to the oldest instances after the cursor. The cursor also has the newest instance that the first batch found:
 * later ones are left out, or the batches might never end.
 */
export async function sendToBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  { labels: given, ...event }: LabelledEvent,
  cursor: string | null,
): Promise<SentBatch> {
  const { namespace, store } = runtime;
  const { name } = workflow;
  const labels = parseLabels(given, "event.invalid");
  if (labels.length === 0) throw new InvalidInputError("event.invalid", "sendEventToAll needs at least one label.");
  const place = cursor === null ? null : readPlace(cursor);
  const prepared = await prepareEvent(runtime, workflow, { namespace, name, id: "" }, event);
  const filter = { ...UNFINISHED, namespace, name, labels };
  const { statements } = store.instances;
  const after = place?.after ?? null;
  const range = { after, order: "oldest", limit: MOST_AT_ONCE + 1 } as const;
  const until = await endOfPage(statements, { ...filter, ...range });
  const found = await statements.list({ ...filter, ...range, until });
  const page = found.slice(0, MOST_AT_ONCE);
  const batch = page.filter(({ ref }) => place === null || ref <= place.last);
  const results = await Promise.all(batch.map((instance) => sendToOne(runtime, prepared, instance)));
  const counts = {
    sent: results.filter((result) => result === "sent" || result === "known").length,
    full: results.filter((result) => result === "full").length,
  };
  const end = found.length > MOST_AT_ONCE ? (page.at(-1)?.ref ?? null) : until;
  if (end === null) return { ...counts, cursor: null };
  const last = place?.last ?? (await newestOf(statements, { ...filter, ...ANY })) ?? end;
  if (end >= last) return { ...counts, cursor: null };
  return { ...counts, cursor: encodeCursor(`${end} ${last}`) };
}

async function newestOf(
  statements: InstanceStatements,
  filter: Omit<InstanceFilter, "after" | "order" | "limit">,
): Promise<string | null> {
  const [newest] = await statements.list({ ...filter, after: null, order: "newest", limit: 1 });
  return newest?.ref ?? null;
}

/** An instance that is restarted meanwhile gets the event in its new run. */
async function sendToOne(
  runtime: WorkflowRuntime,
  event: EventInsert,
  { namespace, name, id, ref, run }: InstanceRecord,
): Promise<EventInsertResult["result"]> {
  const { instances } = runtime.store;
  for (let only: InstanceRun = { ref, run }; ; ) {
    const sent = await instances.sendEvent({ ...event, id, only });
    if ("ref" in sent) runtime.touched(sent.ref);
    if (sent.result !== "missing") return sent.result;
    const [present] = await instances.statements.find([{ namespace, name, id }]);
    if (present?.ref !== ref || present.run === only.run) return "missing";
    only = { ref, run: present.run };
  }
}

const UNFINISHED: Omit<InstanceFilter, "namespace" | "name" | "labels" | "after" | "order" | "limit"> = {
  statuses: UNFINISHED_STATUSES,
  createdFrom: null,
  createdBefore: null,
  finishedFrom: null,
  finishedBefore: null,
};

/** Found in the indexes at once, unlike the newest with some labels. */
const ANY = { statuses: INSTANCE_STATUSES, labels: [] } as const;

function readPlace(cursor: string): { readonly after: string; readonly last: string } {
  const [after, last] = decodeCursor(cursor).split(" ");
  if (after !== undefined && last !== undefined) return { after, last };
  throw new InvalidInputError("cursor.invalid", "The cursor isn't one of sendEventToAll.");
}
