import { tokenEventType } from "../../tokens/step-token.ts";
import { EventCall } from "./step-call.ts";

/** A wait for the payload of a token. */
export class TokenCall extends EventCall {
  constructor(name: string, count: number, dueAt: number) {
    super(name, count, dueAt, tokenEventType({ name, count }), "token");
  }

  override get awaits(): null {
    return null;
  }
}
