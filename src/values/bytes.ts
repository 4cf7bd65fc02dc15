import { getter, prototypeCount } from "./kinds.ts";

type ViewConstructor = new (buffer: ArrayBuffer) => ArrayBufferView;
interface BufferConstructor {
  readonly prototype: object;
  from(buffer: ArrayBuffer): Uint8Array;
}

/** Classes that not every runtime has. A Buffer is decoded as a Buffer if the runtime has one, else as a Uint8Array. */
const optional = globalThis as { Float16Array?: ViewConstructor; Buffer?: BufferConstructor };

const views: ReadonlyMap<string, ViewConstructor> = new Map<string, ViewConstructor>([
  ["Int8Array", Int8Array],
  ["Uint8Array", Uint8Array],
  ["Uint8ClampedArray", Uint8ClampedArray],
  ["Int16Array", Int16Array],
  ["Uint16Array", Uint16Array],
  ["Int32Array", Int32Array],
  ["Uint32Array", Uint32Array],
  ["Float32Array", Float32Array],
  ["Float64Array", Float64Array],
  ["BigInt64Array", BigInt64Array],
  ["BigUint64Array", BigUint64Array],
  ["DataView", DataView],
  ...(optional.Float16Array ? ([["Float16Array", optional.Float16Array]] as const) : []),
]);

/** The kinds whose stored form is base64. */
export const BYTE_KINDS: readonly string[] = [...new Set(["ArrayBuffer", "Buffer", "Float16Array", ...views.keys()])];

const typedArrayName = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

/** The kind of a typed array, Buffer or DataView; undefined for a subclass. */
export function viewKind(view: ArrayBufferView): string | undefined {
  if (Object.getPrototypeOf(view) === optional.Buffer?.prototype) return "Buffer";
  const name = typedArrayName.call(view);
  if (typeof name === "string") return prototypeCount(view) === 3 ? name : undefined;
  return prototypeCount(view) === 2 ? "DataView" : undefined;
}

/** Only the bytes that the view shows, not the rest of its buffer. Throws when the buffer was transferred away. */
export function viewToBase64(view: ArrayBufferView): string {
  return toBase64(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
}

export function bufferToBase64(buffer: ArrayBuffer): string {
  return toBase64(new Uint8Array(buffer));
}

/** Throws for text that isn't base64, for a length that doesn't fit the kind, and for a kind that this runtime lacks. */
export function fromBase64(kind: string, text: string): ArrayBuffer | ArrayBufferView {
  const bytes = bytesOfBase64(text);
  if (kind === "ArrayBuffer") return bytes.buffer;
  if (kind === "Buffer") return optional.Buffer?.from(bytes.buffer) ?? bytes;
  const View = views.get(kind);
  if (View === undefined) throw new TypeError(`this runtime has no ${kind}`);
  return new View(bytes.buffer);
}

/** Throws for text that isn't base64. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Few enough to be the arguments of one call; not spread, which is many times slower. */
const CHUNK_BYTES = 8192;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(binary);
}
