import type { Clock } from "../clock.ts";
import type { Randomness } from "../randomness.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/**
 * Makes ids of 26 characters that sort by time: neighbours in time are neighbours in an index. Ids of one generator always
 * rise, also within a millisecond and when the clock goes back.
 */
export function createIdGenerator(clock: Clock, randomness: Randomness): () => string {
  let lastTime = -1;
  let timeText = "";
  let digits: number[] = [];
  /** All but the last digit, which alone changes from most ids to the next. */
  let beginning = "";
  return () => {
    const time = clock.now();
    if (time > lastTime) {
      lastTime = time;
      timeText = encodeTime(time);
      digits = Array.from(randomness.bytes(RANDOM_LENGTH), (byte) => byte & 31);
      digits[0] = (digits[0] as number) & 15; // leaves room to count upwards
      beginning = timeText + encodeDigits(digits);
    } else {
      increment(digits);
      if (digits[RANDOM_LENGTH - 1] === 0) beginning = timeText + encodeDigits(digits);
    }
    return beginning + ALPHABET[digits[RANDOM_LENGTH - 1] as number];
  };
}

function encodeTime(time: number): string {
  let rest = Math.floor(time);
  let text = "";
  for (let index = 0; index < TIME_LENGTH; index++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Without the last. */
function encodeDigits(digits: readonly number[]): string {
  let text = "";
  for (let index = 0; index < RANDOM_LENGTH - 1; index++) text += ALPHABET[digits[index] as number];
  return text;
}

function increment(digits: number[]): void {
  for (let index = digits.length - 1; index >= 0; index--) {
    const digit = digits[index] as number;
    if (digit < 31) {
      digits[index] = digit + 1;
      return;
    }
    digits[index] = 0;
  }
}
