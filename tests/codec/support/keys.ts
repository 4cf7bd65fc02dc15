import { aesGcm, type Codec } from "../../../src/index.ts";

const KEYS = { old: new Uint8Array(32).fill(1), new: new Uint8Array(32).fill(2) };

export const OLD: Codec = aesGcm({ keys: { old: KEYS.old }, current: "old" });
export const ROTATED: Codec = aesGcm({ keys: KEYS, current: "new" });
export const NEW: Codec = aesGcm({ keys: { new: KEYS.new }, current: "new" });

/** A codec that needs no time. It hides nothing from a reader who looks twice. */
export const BACKWARDS: Codec = {
  encode: (text) => [...text].reverse().join(""),
  decode: (text) => [...text].reverse().join(""),
};
