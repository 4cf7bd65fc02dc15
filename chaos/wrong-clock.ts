const RightDate = Date;
let shiftMs = 0;

/** From now on this process believes that it is later by this much. Timers and the monotonic clock stay right. */
export function shiftClock(milliseconds: number): void {
  shiftMs = milliseconds;
  globalThis.Date = WrongDate as DateConstructor;
}

/** The real time, whatever the process believes. */
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
