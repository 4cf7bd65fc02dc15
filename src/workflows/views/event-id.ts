/**
 * Where an event is in the life of an instance. `position` is that of the journal's entry that tells of it: 0 for the beginning
 * of a run, `END` for its end. An entry may tell of several things, each of which has a slot of its own.
 */
export interface EventPlace {
  readonly run: number;
  readonly position: number;
  readonly slot: number;
}

const SLOTS = 16;
const POSITIONS = 2 ** 30;

/** After every entry that a run may have. */
export const END: number = POSITIONS - 1;

/** For what the end of a run says of something before it. */
export const BEFORE_END: number = END - 1;

/** Ids follow from what is stored, so they are the same for everybody, and rise. The first is 1: a cursor of 0 is before all. */
export function eventIdOf({ run, position, slot }: EventPlace): number {
  return ((run - 1) * POSITIONS + position) * SLOTS + slot + 1;
}

/** The run that an event of this id belongs to. */
export function runOf(eventId: number): number {
  return Math.floor(Math.max(eventId - 1, 0) / (POSITIONS * SLOTS)) + 1;
}

/** A cursor before everything that is told of a run. */
export function startOf(run: number): number {
  return eventIdOf({ run, position: 0, slot: 0 }) - 1;
}
