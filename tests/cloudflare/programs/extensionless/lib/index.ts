import { exclaim } from "./punctuation.marks";

export const GREETING = "Hello";

export function greet(name: string): string {
  return exclaim(`${GREETING}, ${name}`);
}
