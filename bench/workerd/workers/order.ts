/** What both engines run: three steps that do next to nothing. */
export interface OrderStep {
  do<Result>(name: string, body: () => Promise<Result>): Promise<Result>;
}

export async function runOrder(step: OrderStep): Promise<number> {
  const first = await step.do("first", async () => 1);
  const second = await step.do("second", async () => first + 1);
  return step.do("third", async () => second + 1);
}

interface Running {
  status(): Promise<{ readonly status: string }>;
}

/** Waits until all are complete, by asking for their statuses, some at a time. */
export async function untilComplete(instances: readonly Running[]): Promise<void> {
  const left = new Set(instances);
  while (left.size > 0) {
    const asked = [...left].slice(0, 100);
    const states = await Promise.all(asked.map((instance) => instance.status()));
    for (const [index, { status }] of states.entries()) {
      if (status === "complete") left.delete(asked[index] as Running);
      else if (status === "errored") throw new Error("A workflow failed.");
    }
    if (left.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
