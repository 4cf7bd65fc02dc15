import type { OrderWorkflow } from "..";
import { GREETING } from ".";

export type Unused = OrderWorkflow;

export function exclaim(text: string): string {
  return text.startsWith(GREETING) ? `${text}!` : text;
}
