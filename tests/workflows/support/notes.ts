import type { InstanceCommit } from "../../../src/store/instances/instance-records.ts";

/** What several processes, one after the other, saw of one instance, and where they disagree. */
export class Story {
  readonly contradictions: string[] = [];
  /** Steps whose results are stored, as `name` or `name#count`. */
  readonly #stored = new Set<string>();
  /** What the code saw in answer to what is stored. */
  #decided: readonly string[] = [];
  commits = 0;

  /** A body begins. */
  began(step: string): void {
    if (this.#stored.has(step)) this.contradictions.push(`${step} ran again`);
  }

  /** Everything that the code has seen so far follows from what is stored with this commit, and what was stored before it. */
  stored(entries: InstanceCommit["entries"], lines: readonly string[]): void {
    for (const { kind, name, count } of entries) if (kind === "completed") this.#stored.add(nameOf(name, count));
    const [short, long] = lines.length < this.#decided.length ? [lines, this.#decided] : [this.#decided, lines];
    if (short.some((line, index) => line !== long[index])) {
      this.contradictions.push(`first ${this.#decided.join(", ")}; then ${lines.join(", ")}`);
    }
    this.#decided = [...long];
  }
}

/** What one process sees of an instance. */
export class Notes {
  lines: string[] = [];
  /** Whether what it does is done to no avail. */
  lost = false;
  readonly #story: Story;

  constructor(story: Story) {
    this.#story = story;
  }

  /** The code begins, perhaps not for the first time. */
  beginCode(): void {
    this.lines = [];
  }

  /** The code saw something. */
  note(line: string): void {
    this.lines.push(line);
  }

  /** A body that gives a value after some turns of the event loop. */
  body<Value>(name: string, value: Value, turns: number = 0): (ctx: StepPlace) => Promise<Value> {
    return async (ctx) => {
      this.began(name, ctx);
      await passTurns(turns);
      return value;
    };
  }

  began(name: string, { step }: StepPlace): void {
    if (!this.lost) this.#story.began(nameOf(name, step.count));
  }
}

interface StepPlace {
  readonly step: { readonly count: number };
}

export async function passTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

function nameOf(name: string, count: number): string {
  return count === 1 ? name : `${name}#${count}`;
}
