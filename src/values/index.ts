/** Values, and how they are stored: see tags.ts for the format. */

export { decodeValue } from "./decode.ts";
export { encodeValue } from "./encode.ts";
export { refuseEncoded, shownOrUnreadable, type Unreadable } from "./encoded-text.ts";
export { timeOfDate } from "./kinds.ts";
export {
  attemptsOf,
  causesOf,
  delayOf,
  isSensitive,
  isUnchecked,
  markCaused,
  markDelayed,
  markSensitive,
  REDACTED,
} from "./marks.ts";
export {
  describeError,
  describeWithStack,
  type ErrorDescription,
  encodeError,
  loggedError,
  MAX_ERROR_BYTES,
  tame,
  withoutStacks,
} from "./stored-error.ts";
export { StreamReference } from "./tags.ts";
