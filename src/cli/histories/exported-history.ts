import { readFileSync } from "node:fs";
import { fromWireHistory, toWire, type WireHistory } from "../../client/wire.ts";
import { decodeValue } from "../../values/index.ts";
import type { HistoryItem } from "../../workflows/views/history-page.ts";
import type { WireInstance } from "../commands/instance-list.ts";
import { type InstanceReference, pathOf } from "../commands/instance-reference.ts";
import { usageError } from "../failures.ts";
import type { Target } from "../targets/target.ts";
import { readEntries, type WireEntry } from "./wire-history.ts";

const FORMAT = "perdure-history/1";

/** A run of an instance in a file, with everything that a replay needs. Values have their stored form. */
export interface ExportedHistory {
  readonly format: typeof FORMAT;
  readonly exportedAt: string;
  readonly instance: WireInstance;
  readonly run: number;
  /** Absent if there are none. */
  readonly params?: unknown;
  readonly entries: readonly WireEntry[];
}

export async function exportHistory(
  target: Target,
  reference: InstanceReference,
  wanted?: number,
): Promise<ExportedHistory> {
  const instance = await target.get<WireInstance>(pathOf(reference));
  const { run, entries } = await readEntries(target, reference, wanted);
  const params = await readParams(target, reference);
  const given = params === undefined ? {} : { params: toWire(params) };
  return { format: FORMAT, exportedAt: new Date().toISOString(), instance, run, ...given, entries };
}

/** The first event of a run has the params. */
async function readParams(target: Target, { workflowName, id }: InstanceReference): Promise<unknown> {
  const instance = await target.workflow(workflowName).get(id);
  const events = await instance.subscribe({ filter: ["workflow_started"] });
  const { value } = await events.next().finally(() => events.return());
  return value?.params;
}

export function readExported(file: string): ExportedHistory {
  const exported = parse(file);
  if (exported.format === FORMAT && Array.isArray(exported.entries)) return exported as ExportedHistory;
  throw usageError(
    `${file} isn't an exported history.`,
    "Write one: perdure export workflow/id --output history.json.",
  );
}

function parse(file: string): Partial<ExportedHistory> {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) ?? {}) as Partial<ExportedHistory>;
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The entries and params as the code of the workflow sees them. */
export function toRecorded({ entries, params }: ExportedHistory): {
  readonly entries: readonly HistoryItem[];
  readonly params: unknown;
} {
  const page = { run: 1, earlierRuns: [], runsCursor: null, cursor: null, entries } as unknown as WireHistory;
  const decoded = params === undefined ? undefined : decodeValue(JSON.stringify(params));
  return { entries: fromWireHistory(page).entries, params: decoded };
}
