const RightDate = Date;
let shiftMs = 0;

/** From now on this process believes that it is so much later than it is. Timers and the monotonic clock go on as they are. */
export function shiftClock(milliseconds: number): void {
  shiftMs = milliseconds;
  globalThis.Date = WrongDate as DateConstructor;
}

/** The time, whatever the process believes. */
export function rightTime(): number {
  return RightDate.now();
}

class WrongDate extends RightDate {
  constructor(...parameters: [] | [value: number | string | Date]) {
    if (parameters.length === 0) super(WrongDate.now());
    else super(...parameters);
  }

  static override now(): number {
    return RightDate.now() + shiftMs;
  }
}
