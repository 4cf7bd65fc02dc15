import type {
  ClaimedInstance,
  InstanceLease,
  Reacquisition,
  RenewedInstance,
} from "../../instances/instance-records.ts";
import { toClaimedInstance, toRenewedInstance } from "../../instances/instance-rows.ts";
import type { AdmitRequest } from "../../lines/line-records.ts";
import { LEFT_DELAY_MS, LINE_DEPTH, MOST_LINES, MOST_PASSES } from "../../lines/look-at-line.ts";
import type { QueueScope } from "../../queue/claim-request.ts";
import { toNumber, toNumberOrNull } from "../../rows.ts";
import { compareText } from "../../text-order.ts";
import { integerArray, textArray } from "../array-literals.ts";
import { admit, nextLine, openLines, reacquireSlot } from "../sql/lines.ts";
import { PostgresStatements } from "../statements.ts";

type Row = Record<string, unknown>;

/**
 * Admits as many instances from lines as their limits allow. The functions of the schema lock a line and then read it in
 * further statements, which see everything that was committed before, so no two processes give away the same slot. A
 * transaction that frees a slot or joins the line meanwhile waits for the lock, and then makes the line due again. Each call is
 * one message, so the lock never waits for this process.
 */
export class PostgresAdmission extends PostgresStatements {
  async admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    if (request.room <= 0 || request.scopes.length === 0) return [];
    const { room, lock, leaseMs } = request;
    const bounds = [MOST_LINES, LINE_DEPTH, MOST_PASSES, LEFT_DELAY_MS];
    const values = [this.now(), ...limitColumns(request), room, lock, leaseMs, ...bounds];
    const { rows } = await this.connection.runWhole(admit(this.schema), values);
    return rows.sort(inLineOrder).map(toClaimedInstance);
  }

  async nextAdmission(scopes: readonly QueueScope[]): Promise<number | null> {
    if (scopes.length === 0) return null;
    const { rows } = await this.run(nextLine, [this.now(), ...scopeColumns(scopes)]);
    return toNumberOrNull(rows[0]?.remaining ?? null);
  }

  async openLines(namespaces: readonly string[]): Promise<boolean> {
    const { rows } = await this.run(openLines, [this.now(), namespaces]);
    return rows[0]?.there === true;
  }

  async reacquire(
    { ref, run, lock }: InstanceLease,
    lease: Reacquisition,
    slots: { readonly key: string; readonly limit: number },
  ): Promise<RenewedInstance | "full" | null> {
    const values = [this.now(), ref, run, lock, lease.lock, lease.leaseMs, slots.key, slots.limit];
    const [row] = (await this.connection.runWhole(reacquireSlot(this.schema), values)).rows;
    if (row === undefined) return null;
    return row.is_full === true ? "full" : toRenewedInstance(row);
  }
}

/** Line by line. In each, begun instances come first; fresh ones have negative times. Updates return rows in any order. */
function inLineOrder(left: Row, right: Row): number {
  const [first, second] = [toNumber(left.due_at), toNumber(right.due_at)];
  const line = toNumber(left.line_index) - toNumber(right.line_index);
  const fresh = Number(first < 0) - Number(second < 0);
  return line || fresh || first - second || compareText(left.ref as string, right.ref as string);
}

/** Each workflow of the scopes with its versions and limits. */
function limitColumns({ scopes, limitsOf, versionsOf }: AdmitRequest): string[] {
  const workflows = scopes.flatMap(({ namespace, names }) =>
    names.map((name) => ({ namespace, name, versions: versionsOf(namespace, name), ...limitsOf(namespace, name) })),
  );
  return [
    textArray(workflows.map(({ namespace }) => namespace)),
    textArray(workflows.map(({ name }) => name)),
    textArray(workflows.map(({ versions }) => integerArray(versions))),
    integerArray(workflows.map(({ slots }) => slots)),
    integerArray(workflows.map(({ starts }) => starts?.limit ?? null)),
    integerArray(workflows.map(({ starts }) => starts?.periodMs ?? null)),
  ];
}

/** The names of a scope are an array literal, because PostgreSQL's nested arrays must be of one length. */
function scopeColumns(scopes: readonly QueueScope[]): unknown[] {
  return [scopes.map(({ namespace }) => namespace), scopes.map(({ names }) => textArray(names))];
}
