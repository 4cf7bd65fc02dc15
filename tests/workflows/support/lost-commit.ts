import type { InstanceCommit, InstanceCommitResult } from "../../../src/store/instances/instance-records.ts";
import type { Store } from "../../../src/store/store.ts";

/**
 * Loses a process after one of its commits: that is written, but never answered, and none of the later ones is written. What
 * the process still does is done to no avail; let its clock stand still.
 */
export class LostCommit {
  readonly #lostAfter: number;
  readonly #onCommit: (commit: InstanceCommit) => void;
  readonly #ended = Promise.withResolvers<InstanceCommitResult>();
  #commits = 0;
  #written = false;

  /** `onCommit` is told of every commit that is written, before it is. */
  constructor(store: Store, lostAfter: number, onCommit: (commit: InstanceCommit) => void) {
    this.#lostAfter = lostAfter;
    this.#onCommit = onCommit;
    const { instances } = store;
    const write = instances.commit.bind(instances);
    instances.commit = (commit) => this.#commit(commit, write);
  }

  /** Whether the process has written its last commit. */
  get isLost(): boolean {
    return this.#written;
  }

  /** Whether the process may still begin what matters. */
  get isOver(): boolean {
    return this.#commits >= this.#lostAfter;
  }

  /** Lets the callers that wait for an answer go on, so that the process can be closed. */
  end(): void {
    this.#commits = Number.POSITIVE_INFINITY;
    this.#ended.resolve({ result: "superseded" });
  }

  async #commit(
    commit: InstanceCommit,
    write: (commit: InstanceCommit) => Promise<InstanceCommitResult>,
  ): Promise<InstanceCommitResult> {
    if (this.#commits >= this.#lostAfter) return this.#ended.promise;
    const last = ++this.#commits >= this.#lostAfter;
    this.#onCommit(commit);
    const answer = await write(commit);
    if (!last) return answer;
    this.#written = true;
    return this.#ended.promise;
  }
}
