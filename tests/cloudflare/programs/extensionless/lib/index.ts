import { exclaim } from "./punctuation.marks";
import words from "./words.json";

export const GREETING = words.greeting;

export function greet(name: string): string {
  return exclaim(`${GREETING}, ${name}`);
}
