import type { InstanceCommit, InstanceCommitResult, NewEntry } from "../../instances/instance-records.ts";
import { toNumber } from "../../rows.ts";
import { integerArray, jsonArray, textArray } from "../array-literals.ts";
import type { StepOutcomes } from "../sql/instances/commit-steps.ts";
import { isPlain } from "./instance-columns.ts";

type Row = Record<string, unknown>;

/** Commits of one completed step each, as parameters of `commitSteps` after the time. */
export interface StepBatch {
  readonly outcomes: StepOutcomes;
  readonly values: readonly unknown[];
}

/** Null if these commits aren't so alike that `commitSteps` can write them. */
export function toStepBatch(commits: readonly InstanceCommit[]): StepBatch | null {
  const first = commits[0]?.entries[0];
  const run = commits[0]?.run;
  if (first === undefined || !commits.every((commit) => commit.run === run && isStep(commit, first))) return null;
  const finishing = commits.some(({ outcome }) => outcome.kind === "completed");
  const entry = ({ entries }: InstanceCommit) => entries[0] as NewEntry;
  const values: unknown[] = [
    textArray(commits.map(({ ref }) => ref)),
    textArray(commits.map(({ lock }) => lock)),
    integerArray(commits.map(({ position }) => position)),
    textArray(commits.map((commit) => entry(commit).name)),
    jsonArray(commits.map((commit) => entry(commit).value)),
    run,
    first.type,
    first.count,
    first.attempt,
  ];
  if (finishing) values.push(textArray(commits.map(({ outcome }) => ("output" in outcome ? outcome.output : null))));
  return { outcomes: finishing ? "finishing" : "running", values };
}

function isStep({ entries, outcome, hook, limited }: InstanceCommit, first: NewEntry): boolean {
  if (entries.length !== 1 || hook !== undefined) return false;
  if (outcome.kind !== "running" && (outcome.kind !== "completed" || limited === true)) return false;
  const entry = entries[0] as NewEntry;
  return entry.type === first.type && entry.count === first.count && entry.attempt === first.attempt && isPlain(entry);
}

/** The results of the commits that were written: all but the exceptions that the answer names by their place in the batch. */
export function toStepResults(
  commits: readonly InstanceCommit[],
  row: Row | undefined,
): Map<InstanceCommit, InstanceCommitResult> {
  const results = new Map<InstanceCommit, InstanceCommitResult>();
  if (row === undefined) return results;
  const at = toNumber(row.at);
  const written = { result: "written", at, wakes: 0, paused: false } as const;
  const ended = indexes(row.ended);
  const lost = indexes(row.lost);
  for (const [index, commit] of commits.entries()) {
    if (commit.outcome.kind === "running" ? !lost.has(index) : ended.has(index)) results.set(commit, written);
  }
  for (const told of list(row.wakes)) {
    const [index, wakes] = told.split(":");
    change(results, commits[Number(index) - 1], { wakes: Number(wakes) });
  }
  for (const index of indexes(row.paused)) change(results, commits[index], { paused: true });
  return results;
}

function change(
  results: Map<InstanceCommit, InstanceCommitResult>,
  commit: InstanceCommit | undefined,
  told: { readonly wakes: number } | { readonly paused: true },
): void {
  const result = commit && results.get(commit);
  if (commit !== undefined && result?.result === "written") results.set(commit, { ...result, ...told });
}

function indexes(text: unknown): ReadonlySet<number> {
  return new Set(list(text).map((index) => Number(index) - 1));
}

function list(text: unknown): string[] {
  return typeof text === "string" ? text.split(",") : [];
}
