import { InvalidInputError } from "../../errors.ts";
import type { InstanceCommit, NewEntry, ProgressRange } from "../../store/instances/instance-records.ts";
import { encodeValue } from "../../values/index.ts";
import type { Attempt } from "./attempt.ts";
import type { Commits } from "./commits.ts";
import { BodyCall, type StepCall } from "./step-call.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";

/** What one emit may give, and how many an attempt may make. */
const MOST_BYTES = 16 * 1024;
const MOST_EMITS = 10_000;

interface Emitted {
  readonly entry: NewEntry;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What the functions of steps tell while they run. It is written like everything else of the execution, in order, with the next
 * commit; what is told while a commit is under way goes together into the next. It isn't something done: losses of the process
 * are counted on across it.
 */
export class Progress {
  readonly #commits: Commits;
  readonly #drop: (range: Omit<ProgressRange, "ref" | "run">) => void;
  readonly #soon: () => void;
  #waiting: Emitted[] = [];
  /** Steps that told something and have ended, with the entry that says so, until that is written. */
  #ended: { readonly call: BodyCall; readonly entry: NewEntry }[] = [];
  /** Where the progress of steps that haven't ended begins in the journal, by path. */
  #begins: Map<string, number> | undefined;

  constructor(commits: Commits, soon: () => void, drop: (range: Omit<ProgressRange, "ref" | "run">) => void) {
    this.#commits = commits;
    this.#soon = soon;
    this.#drop = drop;
  }

  /** How many wait until what they told is stored. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is stored. What can't be stored is thrown at once. */
  emit({ call }: Attempt, value: unknown): Promise<void> {
    call.progressed = true;
    if (++call.emits > MOST_EMITS) {
      throw new InvalidInputError(
        "progress.too_many",
        `An attempt may emit ${MOST_EMITS} times, and this is once more.`,
      );
    }
    const label = `What the step "${call.name}" emits`;
    const text = encodeValue(value, { label, maxBytes: MOST_BYTES });
    const entry = call.entry("progress", { attempt: call.attempt, value: text });
    this.#commits.add(entry);
    const stored = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
    });
    stored.catch(() => {}); // whoever doesn't wait doesn't mind
    this.#soon();
    return stored;
  }

  /** The step of this call had ended before. What it told is still there if its last owner ended too early to drop it. */
  foundEnded(call: StepCall): void {
    if (call instanceof BodyCall && call.progressed) this.#forget(call);
  }

  /** A step has ended for good. When that is written, what it told on the way isn't needed any more, unless it is kept. */
  ended(call: BodyCall, entry: NewEntry): void {
    if (call.progressed) this.#ended.push({ call, entry });
  }

  /** A commit was written. */
  written(commit: InstanceCommit): void {
    if (this.#waiting.length > 0) this.#answer(commit);
    if (this.#ended.length === 0) return;
    const over = this.#ended.filter(({ entry }) => commit.entries.includes(entry));
    this.#ended = this.#ended.filter((one) => !over.includes(one));
    for (const { call } of over) this.#forget(call);
  }

  /** What earlier executions wrote comes first, and may have an older name. */
  #forget(call: BodyCall): void {
    const path = pathOf(call);
    const begin = this.#begins?.get(path) ?? null;
    this.#begins?.delete(path);
    if (call.policy.keepProgress) return;
    const before = call.record?.progressFrom ?? null;
    if (call.record !== null && before !== null) this.#drop({ ...identityOf(call.record), from: before });
    if (begin !== null && (before === null || call.record?.name !== call.name)) {
      this.#drop({ ...identityOf(call), from: begin });
    }
  }

  /** Nothing is written any more. */
  end(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #answer({ entries, position }: InstanceCommit): void {
    for (const [index, entry] of entries.entries()) {
      if (entry.kind !== "progress") continue;
      const path = pathOf(entry);
      this.#begins ??= new Map();
      if (!this.#begins.has(path)) this.#begins.set(path, position + index);
      this.#waiting.shift()?.resolve();
    }
  }
}

function identityOf({ type, name, count, parent }: StepIdentity): StepIdentity {
  return { type, name, count, parent };
}
