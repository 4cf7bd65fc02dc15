/** What a hook carries: about 100 bytes of JSON. */
export interface Payload {
  readonly sequence: number;
  readonly to: string;
  readonly template: string;
  readonly order: string;
}

export function makePayload(sequence: number): Payload {
  return {
    sequence,
    to: "customer@example.com",
    template: "order-confirmation",
    order: `order-${String(sequence).padStart(10, "0")}`,
  };
}

export function makePayloads(count: number): Payload[] {
  return Array.from({ length: count }, (_, index) => makePayload(index));
}
