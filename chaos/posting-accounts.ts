import type { Account, Problem } from "./workload.ts";

/** A row that the transaction of a step wrote, and the only one that it may leave. */
export interface Posting {
  readonly item: string;
  readonly step: string;
  /** Each call of a body writes and returns a token of its own. */
  readonly token: string;
  readonly account: string;
  readonly attempt: number;
}

/** An instance as its caller and the database see it at the end. */
export interface PostedInstance {
  readonly item: string;
  readonly status: string;
  /** The tokens that its code received, by step. */
  readonly seen: Readonly<Record<string, string>>;
  /** The tokens in its journal. */
  readonly stored: readonly { readonly step: string; readonly token: unknown }[];
}

export interface Postings {
  readonly steps: readonly string[];
  readonly instances: readonly PostedInstance[];
  readonly postings: readonly Posting[];
  /** Each posting has added 1 to its account. */
  readonly balances: Readonly<Record<string, number>>;
  /** How often bodies were called. */
  readonly bodies: number;
}

const ONCE = "a step's transaction is committed exactly once, with its entry";

/** Compares what the transactions of steps wrote with the journals, and with what the code received. */
export function accountForPostings({ steps, instances, postings, balances, bodies }: Postings): Account {
  const byItem = Map.groupBy(postings, ({ item }) => item);
  const problems: Problem[] = [];
  for (const instance of instances) problems.push(...checkInstance(steps, instance, byItem.get(instance.item) ?? []));
  const known = new Set(instances.map(({ item }) => item));
  for (const item of byItem.keys()) {
    if (!known.has(item)) problems.push(problem("nothing appears by itself", `${item} was never created`, item));
  }
  problems.push(...checkBalances(postings, balances));
  const expected = instances.length * steps.length;
  const distinct = new Set(postings.map(({ item, step }) => `${item}/${step}`)).size;
  const line = {
    instances: instances.length,
    steps: instances.reduce((sum, { stored }) => sum + stored.length, 0),
    postings: postings.length,
    "bodies again": bodies - expected,
    doubled: postings.length - distinct,
    lost: expected - distinct,
  };
  return { table: { transactions: line }, problems };
}

function* checkInstance(
  steps: readonly string[],
  { item, status, seen, stored }: PostedInstance,
  postings: readonly Posting[],
): Generator<Problem> {
  if (status !== "complete") yield problem("database errors fail no instance", `${item} is ${status}`, item);
  for (const step of steps) {
    const rows = postings.filter((one) => one.step === step).map(({ token }) => token);
    const entries = stored.filter((one) => one.step === step).map(({ token }) => token);
    const [row, entry] = [rows[0], entries[0]];
    if (rows.length !== 1 || entries.length !== 1) {
      yield problem(ONCE, `"${step}" of ${item} has ${rows.length} rows and ${entries.length} entries`, item);
    } else if (row !== entry || entry !== seen[step]) {
      const details = `"${step}" of ${item} wrote ${row}, its entry has ${entry}, and its code received ${seen[step]}`;
      yield problem(ONCE, details, item);
    }
  }
  const counted = postings.find(({ attempt }) => attempt !== 1);
  if (counted === undefined) return;
  const details = `"${counted.step}" of ${item} was written by attempt ${counted.attempt}`;
  yield problem("database errors use up no attempts", details, item);
}

function* checkBalances(postings: readonly Posting[], balances: Readonly<Record<string, number>>): Generator<Problem> {
  const sums = Map.groupBy(postings, ({ account }) => account);
  for (const [account, balance] of Object.entries(balances)) {
    const sum = sums.get(account)?.length ?? 0;
    if (sum === balance) continue;
    yield { promise: "the ledger is exact", details: `${account} has ${balance} after ${sum} postings`, items: [] };
  }
}

function problem(promise: string, details: string, item: string): Problem {
  return { promise, details, items: [item] };
}
