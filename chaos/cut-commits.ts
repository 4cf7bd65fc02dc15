import { randomUUID } from "node:crypto";
import { SeededRandomness } from "../simulation/random.ts";
import { type Application, defineWorkflow, perdure, type WorkflowDefinition } from "../src/index.ts";
import { COMMIT } from "../tests/support/cut-texts.ts";
import type { CuttingProxy } from "../tests/support/cutting-proxy.ts";
import { type Arena, openArena } from "./arena.ts";
import { accountForPostings, type PostedInstance, type Posting } from "./posting-accounts.ts";
import type { Account } from "./workload.ts";

/**
 * The server never receives the commit; or its answer is lost; or the server receives it after the client has lost the
 * connection.
 */
const CUTS = ["request", "answer", "late"] as const;
type CommitCut = (typeof CUTS)[number];

const STEPS = ["first", "second", "third"] as const;
const ACCOUNTS = Array.from({ length: 20 }, (_, number) => `account-${number}`);
const INSTANCES_AT_ONCE = 8;
const PAGE = 100;
const TABLES = [
  // No constraint says that a posting exists once: the accounts must find that out.
  "create table chaos_posting (item text, step text, token text, account text, attempt integer)",
  "create table chaos_balance (account text primary key, amount integer not null)",
];
const SILENT = { info() {}, warn() {}, error() {} };

type Transfer = WorkflowDefinition<{ accounts: string[] }, Record<string, string>, Record<string, unknown>>;
type TransferApplication = Application<Record<never, never>, { transfer: Transfer }>;

export interface CutCommitsResult {
  readonly account: Account;
  /** How often a commit was lost in each way. */
  readonly cuts: Readonly<Record<CommitCut, number>>;
}

/**
 * Cuts this many connections, each exactly at the commit of a step's transaction, and compares everything that the transactions
 * wrote with the journals. Each of the two networks has an application of its own, which runs until its half of the cuts has
 * happened.
 */
export async function cutCommits(seed: number, commits: number, directory: string): Promise<CutCommitsResult> {
  const arena = await openArena("postgres", directory);
  const random = new SeededRandomness(seed);
  const run = new CommitsRun(arena, random);
  try {
    await run.prepare();
    const shares = arena.proxies.map((_, index) => Math.floor((commits + index) / arena.proxies.length));
    await Promise.all(arena.proxies.map((proxy, index) => run.suffer(proxy, index, shares[index] as number)));
    return { account: await run.takeAccount(), cuts: run.cuts };
  } finally {
    await arena.close();
  }
}

class CommitsRun {
  readonly cuts: Record<CommitCut, number> = { request: 0, answer: 0, late: 0 };
  readonly #arena: Arena;
  readonly #random: SeededRandomness;
  /** The result that each instance's caller received, or null if there was none. */
  readonly #outputs = new Map<string, Record<string, string> | null>();
  #bodies = 0;

  constructor(arena: Arena, random: SeededRandomness) {
    this.#arena = arena;
    this.#random = random;
  }

  async prepare(): Promise<void> {
    await using observer = await this.#open(this.#arena.database, false);
    for (const table of TABLES) await observer.unitOfWork((uow) => uow.query(table));
    await observer.unitOfWork(async (uow) => {
      for (const account of ACCOUNTS) await uow.sql`insert into chaos_balance values (${account}, 0)`;
    });
  }

  /** Each lane runs one instance after the other until enough connections were cut. */
  async suffer(proxy: CuttingProxy, index: number, share: number): Promise<void> {
    const app = await this.#open(proxy.url, true);
    let left = share;
    const cutting = (async () => {
      for (; left > 0; left--) {
        const cut = this.#random.pick(CUTS);
        await proxy.cut(COMMIT, cut);
        this.cuts[cut]++;
      }
    })();
    const lane = async (number: number) => {
      for (let sequence = 1; left > 0; sequence++) await this.#runOne(app, `${index}-${number}-${sequence}`);
    };
    await Promise.all([cutting, ...Array.from({ length: INSTANCES_AT_ONCE }, (_, number) => lane(number))]);
    await app.stop();
  }

  async takeAccount(): Promise<Account> {
    await using observer = await this.#open(this.#arena.database, false);
    const instances: PostedInstance[] = [];
    const items = [...this.#outputs];
    while (items.length > 0) {
      const page = items.splice(0, PAGE).map(([item, seen]) => readInstance(observer, item, seen));
      instances.push(...(await Promise.all(page)));
    }
    const postings = await observer.unitOfWork((uow) => uow.sql`select * from chaos_posting`);
    const rows = await observer.unitOfWork((uow) => uow.sql`select account, amount from chaos_balance`);
    const balances = Object.fromEntries(rows.map(({ account, amount }) => [account, Number(amount)]));
    const bodies = this.#bodies;
    return accountForPostings({ steps: STEPS, instances, postings: postings as never as Posting[], balances, bodies });
  }

  async #open(database: string, works: boolean): Promise<TransferApplication> {
    const transfer = this.#defineTransfer();
    const worker = works && { concurrency: INSTANCES_AT_ONCE };
    return perdure({ database, workflows: { transfer }, worker, logger: SILENT });
  }

  #defineTransfer(): Transfer {
    return defineWorkflow<{ accounts: string[] }, undefined, undefined, Record<string, string>>(
      { name: "transfer" },
      async ({ instanceId, payload }, step) => {
        const seen: Record<string, string> = {};
        for (const [index, name] of STEPS.entries()) {
          const account = payload.accounts[index] as string;
          seen[name] = await step.transaction(name, async (tx, { attempt }) => {
            this.#bodies++;
            const token = randomUUID();
            await tx.sql`insert into chaos_posting values (${instanceId}, ${name}, ${token}, ${account}, ${attempt})`;
            await tx.sql`update chaos_balance set amount = amount + 1 where account = ${account}`;
            return token;
          });
        }
        return seen;
      },
    );
  }

  async #runOne(app: TransferApplication, item: string): Promise<void> {
    const accounts = STEPS.map(() => this.#random.pick(ACCOUNTS));
    this.#outputs.set(item, null);
    const instance = await app.workflows.transfer.create({ id: item, params: { accounts } });
    const output = await instance.result().catch(() => null); // the accounts find out what happened to it
    this.#outputs.set(item, output);
  }
}

async function readInstance(
  app: TransferApplication,
  item: string,
  seen: Record<string, string> | null,
): Promise<PostedInstance> {
  const instance = await app.workflows.transfer.get(item);
  const { status } = await instance.status();
  const { entries } = await instance.history({ limit: PAGE });
  const completed = entries.filter(({ kind }) => kind === "completed");
  return {
    item,
    status,
    seen: seen ?? {},
    stored: completed.map(({ name, output }) => ({ step: name, token: output })),
  };
}
