import {
  type Deadline,
  type EventLimits,
  FINISHED_STATUSES,
  type HistoryFilter,
  type InstanceCount,
  type InstanceFilter,
  type InstanceName,
  type InstancePosition,
  type InstanceRecord,
  type InstanceRun,
  type InstanceScope,
  type InstanceSearch,
  type InstanceSituation,
  type JournalPage,
  MOST_AHEAD,
  type PastRun,
  type RunRange,
  type SearchedInstance,
  UNFINISHED_STATUSES,
  type UnreceivedRecords,
  type VersionCount,
} from "../../instances/instance-records.ts";
import {
  toDeadline,
  toHistoryEntry,
  toInstanceCount,
  toInstancePosition,
  toInstanceRecord,
  toPastRun,
  toSearchedInstance,
  toUnreceivedEvents,
  toVersionCount,
} from "../../instances/instance-rows.ts";
import { toLinePlace, toQueuedInstance } from "../../instances/situation-rows.ts";
import {
  type LineMember,
  type LineQuery,
  type ListedLine,
  MOST_COUNTED,
  toLine,
  toLineMember,
} from "../../lines/listed-lines.ts";
import type { QueueScope } from "../../queue/claim-request.ts";
import { toNumber } from "../../rows.ts";
import { endOfPrefix } from "../../text-order.ts";
import { integerArray, textArray } from "../array-literals.ts";
import type { PostgresClient } from "../connection/driver.ts";
import { countInstances, countLabelledInstances, countVersions } from "../sql/instances/instance-counts.ts";
import {
  readHistory,
  readPastRuns,
  readPositions,
  readSituation,
  readUnreceivedEvents,
} from "../sql/instances/instance-history.ts";
import { reachOfList } from "../sql/instances/instance-reach.ts";
import { findRefsById, searchInstances } from "../sql/instances/instance-search.ts";
import { findDeadlines, findInstances, listInstances, unknownNames } from "../sql/instances/instance-views.ts";
import { listLines, readLine } from "../sql/lines.ts";
import { PostgresStatements } from "../statements.ts";
import { nameColumns } from "./instance-columns.ts";

/** Operators' reads of instances. */
export class PostgresInstanceViews extends PostgresStatements {
  find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]> {
    return this.findOn(instances);
  }

  protected async findOn(instances: readonly InstanceName[], on?: PostgresClient): Promise<(InstanceRecord | null)[]> {
    if (instances.length === 0) return [];
    const { rows } = await this.run(findInstances, nameColumns(instances), on);
    const found = new Map(rows.map((row) => [toNumber(row.index), toInstanceRecord(row)]));
    return instances.map((_, index) => found.get(index + 1) ?? null);
  }

  async positions(refs: readonly string[]): Promise<(InstancePosition | null)[]> {
    if (refs.length === 0) return [];
    const { rows } = await this.run(readPositions, [textArray(refs)]);
    const found = new Map(rows.map((row) => [toNumber(row.index), toInstancePosition(row)]));
    return refs.map((_, index) => found.get(index + 1) ?? null);
  }

  async situation(ref: string): Promise<InstanceSituation | null> {
    const { rows } = await this.run(readSituation, [this.now(), ref]);
    if (rows[0] === undefined) return null;
    const { situation, line } = toQueuedInstance(rows[0]);
    if (line === null) return { ...situation, line };
    const { kind, key, before } = line;
    const classes = integerArray(before.map((place) => place.class));
    const times = integerArray(before.map((place) => place.availableAt));
    const refs = textArray(before.map((place) => place.ref));
    const found = await this.connection.run(readLine(this.schema, kind), [key, classes, times, refs, MOST_AHEAD]);
    return { ...situation, line: toLinePlace(line, found.rows[0] as Record<string, unknown>) };
  }

  async lines({ namespace, kind, after, limit, members }: LineQuery): Promise<ListedLine[]> {
    const values = [this.now(), namespace, after, limit, members, MOST_COUNTED];
    const { rows } = await this.connection.run(listLines(this.schema, kind), values);
    return rows.map((row) => {
      const next = [...toMembers(row.next_continuing), ...toMembers(row.next_fresh)];
      return {
        ...toLine(row),
        held: toNumber(row.held),
        holders: toMembers(row.holders),
        waiting: Math.min(toNumber(row.continuing) + toNumber(row.fresh), MOST_COUNTED),
        next: next.slice(0, members),
      };
    });
  }

  async unreceivedEvents({ ref, run }: InstanceRun, { events, bytes }: EventLimits): Promise<UnreceivedRecords> {
    const { rows } = await this.run(readUnreceivedEvents, [ref, run, events, bytes]);
    return toUnreceivedEvents(rows);
  }

  async list(filter: InstanceFilter): Promise<InstanceRecord[]> {
    const { statement, values } = listInstances(this.schema, filter);
    const { rows } = await this.connection.run(statement, values);
    return rows.map(toInstanceRecord);
  }

  async reach(filter: InstanceFilter, entries: number): Promise<string | null> {
    const { statement, values } = reachOfList(this.schema, filter, entries);
    const { rows } = await this.connection.run(statement, values);
    return (rows[0]?.ref as string | undefined) ?? null;
  }

  async search(search: InstanceSearch): Promise<SearchedInstance[]> {
    const { statement, values } = searchInstances(this.schema, search);
    const { rows } = await this.connection.run(statement, values);
    return rows.map(toSearchedInstance);
  }

  async findByIdPrefix({ namespace, name }: InstanceScope, prefix: string, limit: number): Promise<string[]> {
    const statement = findRefsById(this.schema, { all: name === null });
    const values = [namespace, prefix, endOfPrefix(prefix), limit, ...(name === null ? [] : [name])];
    const { rows } = await this.connection.run(statement, values);
    return rows.map((row) => row.ref as string);
  }

  async counts(namespace: string, names: readonly string[] | null, most: number | null): Promise<InstanceCount[]> {
    const statement = countInstances(this.schema, { all: names === null });
    const values = [namespace, most, FINISHED_STATUSES, UNFINISHED_STATUSES, ...(names === null ? [] : [names])];
    const { rows } = await this.connection.run(statement, values);
    return rows.map(toInstanceCount);
  }

  async labelledCounts(
    namespace: string,
    labels: InstanceFilter["labels"],
    from: string | null,
  ): Promise<InstanceCount[]> {
    const [first = [], ...others] = labels;
    const keys = textArray(others.map(([key]) => key));
    const values = textArray(others.map(([, value]) => value));
    const { rows } = await this.run(countLabelledInstances, [namespace, ...first, keys, values, from ?? ""]);
    return rows.map(toInstanceCount);
  }

  async history({ ref, run, after, order, limit, maxBytes, dropped = false }: HistoryFilter): Promise<JournalPage> {
    const values = [ref, run, after?.run ?? null, after?.position ?? null, limit, dropped, maxBytes];
    const { rows } = await this.connection.run(readHistory(this.schema, order), values);
    return { entries: rows.map(toHistoryEntry), full: rows.length < toNumber(rows[0]?.wanted_count) };
  }

  async pastRuns({ ref }: { readonly ref: string }, range?: RunRange): Promise<PastRun[]> {
    const { rows } = await this.run(readPastRuns, [ref, range?.after ?? 0, range?.limit ?? null]);
    return rows.map(toPastRun);
  }

  async unfinishedVersions({ namespace, names }: QueueScope, limit: number | null): Promise<VersionCount[]> {
    const { rows } = await this.run(countVersions, [namespace, names, UNFINISHED_STATUSES, limit]);
    return rows.map(toVersionCount);
  }

  async unknownNames({ namespace, names }: QueueScope): Promise<string[]> {
    const { rows } = await this.run(unknownNames, [namespace, names]);
    return rows.map((row) => row.name as string);
  }

  async deadlines({ namespace, names }: QueueScope, limit: number): Promise<Deadline[]> {
    const { rows } = await this.run(findDeadlines, [this.now(), namespace, names, limit]);
    return rows.map(toDeadline);
  }
}

function toMembers(json: unknown): LineMember[] {
  return (JSON.parse(json as string) as Record<string, unknown>[]).map(toLineMember);
}
