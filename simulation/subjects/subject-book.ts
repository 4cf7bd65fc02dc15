import type {
  SubjectChange,
  SubjectChangeResult,
  SubjectRecord,
  SubjectVersion,
  SyncBatch,
} from "../../src/store/subjects/subject-records.ts";
import type { World } from "../world.ts";

interface Account {
  /** The owner that claimed it last and hasn't given it up. */
  owner: string | null;
  leaseUntil: number;
  revision: number;
  page: number;
  /** The furthest page whose checkpoint was acknowledged to a handler. */
  acknowledgedPage: number;
  /** When a sync last reset it. */
  resetAt: number;
}

type ReadTable = (text: string) => Record<string, unknown>[];

const ROWS = "select subject_key, revision, cursor, status from perdure_subject";

/** What was committed about subjects, recorded outside the database, and the rules that it must obey. */
export class SubjectBook {
  readonly accounts = new Map<string, Account>();
  changes = 0;
  refusals = 0;
  takeovers = 0;
  resets = 0;
  readonly #world: World;
  readonly #read: ReadTable;
  /** Which change moved a subject from a revision. */
  readonly #changeAt = new Map<string, string>();

  constructor(world: World, read: ReadTable) {
    this.#world = world;
    this.#read = read;
  }

  claimed(process: string, subjects: readonly SubjectRecord[]): void {
    for (const { subjectKey, revision, leaseExpiresAt, cursor } of subjects) {
      const account = this.#account(subjectKey);
      if (account.owner !== null) {
        this.takeovers++;
        if (this.#world.now < account.leaseUntil) {
          this.#world.violate("at most one owner", `${process} claims ${subjectKey}, which ${account.owner} has`);
        }
      }
      Object.assign(account, { owner: process, leaseUntil: leaseExpiresAt ?? 0 });
      this.#move(subjectKey, account, revision, cursor);
    }
    this.compare();
  }

  changed(process: string, changes: readonly SubjectChange[], results: readonly SubjectChangeResult[]): void {
    for (const [index, change] of changes.entries()) {
      const result = results[index];
      if (result?.result !== "changed") {
        this.refusals++;
        continue;
      }
      this.#checkChange(process, change, result.subject);
    }
    this.compare();
  }

  renewed(process: string, held: readonly SubjectVersion[], results: readonly boolean[], leaseMs: number): void {
    for (const [index, { subjectKey, revision }] of held.entries()) {
      if (!results[index]) continue;
      const account = this.#account(subjectKey);
      if (account.owner !== process || account.revision !== revision) {
        this.#world.violate("a lease is renewed by its owner", `${process} renews ${subjectKey} at ${revision}`);
      }
      account.leaseUntil = this.#world.now + leaseMs;
    }
    this.compare();
  }

  /** A sync was written. Without `keepProgress` it resets subjects that aren't leased or running. */
  synced({ subjects, keepProgress }: SyncBatch): void {
    if (!keepProgress) {
      for (const { subjectKey } of subjects) {
        const account = this.#account(subjectKey);
        if (account.owner !== null) continue;
        Object.assign(account, { page: 0, acknowledgedPage: 0, resetAt: this.#world.now });
        this.resets++;
      }
    }
    this.compare();
  }

  /** The checkpoint that a handler requested at that time was acknowledged. */
  acknowledged(subjectKey: string, page: number, askedAt: number): void {
    const account = this.#account(subjectKey);
    if (account.resetAt < askedAt) account.acknowledgedPage = Math.max(account.acknowledgedPage, page);
  }

  /** Every row is what its last change made of it; syncs may have moved its revision, or retired it if its lease was over. */
  compare(): void {
    for (const row of this.#read(ROWS)) {
      const subjectKey = row.subject_key as string;
      const account = this.#account(subjectKey);
      const page = pageOf(row.cursor as string);
      const revision = Number(row.revision);
      if (revision < account.revision) this.#world.violate("revisions only rise", `${subjectKey} is at ${revision}`);
      if (page < Math.max(account.page, account.acknowledgedPage)) {
        this.#world.violate("cursors never go back", `${subjectKey} is at page ${page}, and was at ${account.page}`);
      }
      if (revision !== account.revision && account.owner !== null) {
        if (row.status !== "retired" || this.#world.now < account.leaseUntil) {
          this.#world.violate("a sync touches nothing that is leased or running", `${subjectKey} of ${account.owner}`);
        }
        account.owner = null;
      }
      Object.assign(account, { revision, page });
    }
  }

  #checkChange(process: string, change: SubjectChange, subject: SubjectRecord): void {
    const { subjectKey, revision, changeId, kind } = change;
    const place = `${subjectKey} at ${revision}`;
    const earlier = this.#changeAt.get(place);
    if (earlier === changeId) return; // sent again, and recognised
    if (earlier !== undefined)
      this.#world.violate("two owners never both succeed", `${kind} of ${place} by ${process}`);
    this.#changeAt.set(place, changeId);
    this.changes++;
    const account = this.#account(subjectKey);
    if (account.owner !== process || account.revision !== revision) {
      const details = `${kind} of ${place} by ${process}; ${account.owner} has it at ${account.revision}`;
      this.#world.violate("who was replaced writes nothing", details);
    }
    if (kind !== "checkpoint") account.owner = null;
    else account.leaseUntil = subject.leaseExpiresAt ?? 0;
    this.#move(subjectKey, account, subject.revision, subject.cursor);
  }

  #move(subjectKey: string, account: Account, revision: number, cursor: string): void {
    if (revision !== account.revision + 1) {
      this.#world.violate("each change is one revision", `${subjectKey} went from ${account.revision} to ${revision}`);
    }
    const page = pageOf(cursor);
    if (page < account.page) this.#world.violate("cursors never go back", `${subjectKey} goes back to page ${page}`);
    Object.assign(account, { revision, page });
  }

  #account(subjectKey: string): Account {
    let account = this.accounts.get(subjectKey);
    if (account === undefined) {
      account = { owner: null, leaseUntil: 0, revision: 0, page: 0, acknowledgedPage: 0, resetAt: -1 };
      this.accounts.set(subjectKey, account);
    }
    return account;
  }
}

function pageOf(cursor: string): number {
  return (JSON.parse(cursor) as { page?: number } | null)?.page ?? 0;
}
