import { MAX_LEVELS } from "../values/tags.ts";
import { invalidRequest } from "./http-error.ts";

/** A value's own levels, those of the objects that stand for something else, and those of the body around it. */
const MOST_LEVELS = MAX_LEVELS * 2 + 10;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Before it is parsed: what is nested a million times takes seconds to parse, and all others wait. */
export function checkJsonDepth(text: string): void {
  let level = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x5b: // [
      case 0x7b: // {
        level += 1;
        if (level > MOST_LEVELS) throw invalidRequest(`The body is nested more than ${MOST_LEVELS} levels deep.`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1;
        break;
      case QUOTE:
        index = endOfString(text, index);
    }
  }
}

/** The place of the quote that ends it. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) index += 1;
  }
  return text.length;
}
