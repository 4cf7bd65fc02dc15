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
  return () => {
    const time = clock.now();
    if (time > lastTime) {
      lastTime = time;
      timeText = encodeTime(time);
      digits = Array.from(randomness.bytes(RANDOM_LENGTH), (byte) => byte & 31);
      digits[0] = (digits[0] as number) & 15; // leaves room to count upwards
    } else {
      increment(digits);
    }
    let text = timeText;
    for (const digit of digits) text += ALPHABET[digit];
    return text;
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
