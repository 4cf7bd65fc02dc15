/** Values, and how they are stored: see tags.ts for the format. */
export { causesOf, markCaused } from "./caused.ts";
export { decodeValue } from "./decode.ts";
export { delayOf, markDelayed } from "./delayed.ts";
export { encodeValue } from "./encode.ts";
export { refuseEncoded } from "./encoded-text.ts";
export { isSensitive, markSensitive, REDACTED } from "./sensitive.ts";
export { describeError, type ErrorDescription, encodeError, MAX_ERROR_BYTES } from "./stored-error.ts";
export { StreamReference } from "./stream-reference.ts";
export { tame } from "./tame.ts";
export { timeOfDate } from "./time-of-date.ts";
export { shownOrUnreadable, type Unreadable } from "./unreadable.ts";
