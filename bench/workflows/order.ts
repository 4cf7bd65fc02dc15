/** What a workflow is started with: about 100 bytes of JSON. */
export interface Order {
  readonly steps: number;
  readonly to: string;
  readonly template: string;
  readonly order: string;
}

export const WORKFLOW_NAME = "order";
export const STEPS = 3;

export function makeOrder(steps: number, sequence = 0): Order {
  return {
    steps,
    to: "customer@example.com",
    template: "order-confirmation",
    order: `order-${String(sequence).padStart(10, "0")}`,
  };
}

/** The result of each step, which is stored. */
export function stepResult(step: number): { readonly step: number; readonly done: true } {
  return { step, done: true };
}

/** The workflow, the same for all contenders: steps that do nothing, one after another. */
export async function runOrder(
  { steps }: Order,
  runStep: (name: string, body: () => Promise<unknown>) => Promise<unknown>,
): Promise<{ readonly steps: number }> {
  for (let step = 1; step <= steps; step++) await runStep(`step ${step}`, async () => stepResult(step));
  return { steps };
}
