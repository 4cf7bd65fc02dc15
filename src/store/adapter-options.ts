import { type Clock, systemClock } from "../clock.ts";
import { BorrowedLogger, checkLogger, type Logger } from "../logger.ts";
import { checkOptions, invalidOption } from "../options.ts";
import { type Randomness, systemRandomness } from "../randomness.ts";
import { type Codec, checkCodec } from "./codec/codec.ts";

/** The options that every database adapter has. */
export interface AdapterOptions {
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Default: that of the application that uses the database, or the console. */
  readonly logger?: Logger;
  /** Encrypts what is stored: `aesGcm(...)`, or one of your own. Default: none. */
  readonly codec?: Codec;
  /** Whether `status()`, history, dead letters and the log say where errors were thrown. Default: true. */
  readonly stackTraces?: boolean;
}

export interface ParsedAdapterOptions extends Required<Omit<AdapterOptions, "codec">> {
  readonly codec: Codec | null;
}

const FIELDS = ["clock", "randomness", "logger", "codec", "stackTraces"];

/** Checks what a user gave, and fills in what is left out. `own` are the fields that only this adapter has. */
export function parseAdapterOptions(options: AdapterOptions, own: readonly string[] = []): ParsedAdapterOptions {
  checkOptions(options, { label: "A database", fields: [...own, ...FIELDS] });
  const { clock = systemClock, randomness = systemRandomness, stackTraces = true } = options;
  if (!hasMethods(clock, ["now", "monotonic", "setTimer", "defer"])) {
    throw invalidOption("clock must have the methods now, monotonic, setTimer and defer");
  }
  if (!hasMethods(randomness, ["fraction", "bytes"]))
    throw invalidOption("randomness must have the methods fraction and bytes");
  if (typeof stackTraces !== "boolean") throw invalidOption("stackTraces must be true or false");
  const logger = options.logger === undefined ? new BorrowedLogger() : checkLogger(options.logger);
  return { clock, randomness, logger, codec: checkCodec(options.codec), stackTraces };
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")
  );
}
