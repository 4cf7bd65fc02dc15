import { BYTE_KINDS, bufferToBase64, viewKind, viewToBase64 } from "./bytes.ts";
import { errorClassOf, HIDDEN_FIELDS, hasHiddenField } from "./error-value.ts";
import { builtInKind, describeKind, isError, isPlainArray, isPlainObject } from "./kinds.ts";
import {
  formatPath,
  Refusal,
  refuseCycle,
  refuseDepth,
  refuseKind,
  refuseSize,
  refuseUnreadable,
  type Segment,
} from "./refusal.ts";
import { hasHoles, isArrayIndex } from "./sparse-array.ts";
import { TAG, TAG_IN_TEXT } from "./tags.ts";

export interface WriterOptions {
  readonly label: string;
  readonly maxBytes: number;
  readonly maxLevels: number;
  /** Writes a description where a value can't be stored, instead of refusing all of it. Size still refuses. */
  readonly lenient: boolean;
}

/**
 * Writes any value that can be stored as JSON text, in one pass that reads each property once. When it throws, `path` tells
 * where: it is only shortened on the way back from a success.
 */
export class ValueWriter {
  text = "";
  readonly path: Segment[] = [];
  readonly #ancestors: object[] = [];
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** `level` is how deep in the JSON text the value stands, from 1. */
  write(value: unknown, level: number): void {
    switch (typeof value) {
      case "string":
      case "boolean":
        this.text += JSON.stringify(value);
        return;
      case "number":
        if (Number.isFinite(value) && !Object.is(value, -0)) this.text += value;
        else this.#writeTagged("number", "value", Object.is(value, -0) ? "-0" : String(value));
        return;
      case "undefined":
        this.text += `{${TAG_IN_TEXT}:"undefined"}`;
        return;
      case "bigint":
        this.#writeTagged("bigint", "value", String(value));
        return;
      case "object":
        if (value === null) this.text += "null";
        else this.#writeContainer(value, level);
        return;
      default:
        throw refuseKind(describeKind(value));
    }
  }

  #writeContainer(value: object, level: number): void {
    const ancestor = this.#ancestors.indexOf(value);
    if (ancestor !== -1) throw refuseCycle(formatPath(this.#options.label, this.path.slice(0, ancestor)));
    if (level > this.#options.maxLevels) throw refuseDepth(this.#options.maxLevels);
    this.#ancestors.push(value);
    if (isPlainArray(value)) this.#writeArray(value, level);
    else if (isPlainObject(value)) this.#writeObject(value, level);
    else if (isError(value)) this.#writeError(value, level);
    else if (ArrayBuffer.isView(value)) this.#writeView(value);
    else this.#writeBuiltIn(value, level);
    this.#ancestors.pop();
  }

  #writeMember(container: object, key: string | number, level: number, segment: Segment = key): void {
    if (this.text.length > this.#options.maxBytes) throw refuseSize(this.#options.maxBytes);
    const { text, path } = this;
    const depth = path.push(segment);
    if (this.#options.lenient) {
      try {
        this.write(Reflect.get(container, key), level);
      } catch (error) {
        const refusal = error instanceof Refusal ? error : refuseUnreadable(error);
        if (refusal.code === "value.too_large") throw refusal;
        this.#ancestors.length = depth;
        this.text = text + JSON.stringify(`[${refusal.what}: not stored]`);
      }
    } else {
      this.write(Reflect.get(container, key), level);
    }
    path.pop();
  }

  #writeArray(array: unknown[], level: number): void {
    if (hasHoles(array)) return this.#writeSparseArray(array, level);
    this.text += "[";
    for (let index = 0; index < array.length; index += 1) {
      if (index > 0) this.text += ",";
      this.#writeMember(array, index, level + 1);
    }
    this.text += "]";
  }

  #writeSparseArray(array: unknown[], level: number): void {
    this.text += `{${TAG_IN_TEXT}:"array","length":${array.length},"value":{`;
    let separator = "";
    for (const key of Object.keys(array)) {
      if (!isArrayIndex(key)) continue;
      this.text += `${separator}"${key}":`;
      separator = ",";
      this.#writeMember(array, Number(key), level + 2);
    }
    this.text += "}}";
  }

  #writeObject(object: object, level: number): void {
    if (!Object.hasOwn(object, TAG)) return this.#writeProperties(object, level);
    this.text += `{${TAG_IN_TEXT}:"object","value":`;
    this.#writeProperties(object, level + 1);
    this.text += "}";
  }

  #writeProperties(object: object, level: number): void {
    this.text += "{";
    let separator = "";
    for (const key of Object.keys(object)) {
      this.text += `${separator}${JSON.stringify(key)}:`;
      separator = ",";
      this.#writeMember(object, key, level + 1);
    }
    this.text += "}";
  }

  #writeError(error: object, level: number): void {
    this.text += `{${TAG_IN_TEXT}:"${errorClassOf(error)}"`;
    const fields = ["name", "message", ...HIDDEN_FIELDS.filter((field) => hasHiddenField(error, field))];
    for (const field of fields) {
      this.text += `,"${field}":`;
      this.#writeMember(error, field, level + 1);
    }
    if (Object.keys(error).length > 0) {
      this.text += ',"properties":';
      this.#writeProperties(error, level + 1);
    }
    this.text += "}";
  }

  #writeView(view: ArrayBufferView): void {
    const kind = viewKind(view);
    if (kind === undefined || !BYTE_KINDS.includes(kind)) throw refuseKind(describeKind(view));
    this.#writeTagged(kind, "value", viewToBase64(view));
  }

  #writeBuiltIn(value: object, level: number): void {
    switch (builtInKind(value)) {
      case "Date":
        return this.#writeDate(value);
      case "RegExp":
        return this.#writeRegExp(value);
      case "Map":
        return this.#writeMap(value, level);
      case "Set":
        return this.#writeSet(value, level);
      case "ArrayBuffer":
        return this.#writeTagged("ArrayBuffer", "value", bufferToBase64(value as ArrayBuffer));
      default:
        throw refuseKind(describeKind(value));
    }
  }

  #writeDate(value: object): void {
    const time = Date.prototype.getTime.call(value);
    this.#writeTagged("Date", "value", Number.isNaN(time) ? null : new Date(time).toISOString());
  }

  #writeRegExp(value: object): void {
    const { source, flags } = value as RegExp;
    this.text += `{${TAG_IN_TEXT}:"RegExp","source":${JSON.stringify(source)},"flags":${JSON.stringify(flags)}}`;
  }

  #writeMap(map: object, level: number): void {
    this.text += `{${TAG_IN_TEXT}:"Map","value":[`;
    let position = 0;
    for (const entry of Map.prototype.entries.call(map)) {
      this.text += position === 0 ? "[" : ",[";
      this.#writeMember(entry, 0, level + 3, { text: `.entries()[${position}][0]` });
      this.text += ",";
      this.#writeMember(entry, 1, level + 3, { text: `.entries()[${position}][1]` });
      this.text += "]";
      position += 1;
    }
    this.text += "]}";
  }

  #writeSet(set: object, level: number): void {
    const items = [...Set.prototype.values.call(set)];
    this.text += `{${TAG_IN_TEXT}:"Set","value":[`;
    for (let index = 0; index < items.length; index += 1) {
      if (index > 0) this.text += ",";
      this.#writeMember(items, index, level + 2, { text: `.values()[${index}]` });
    }
    this.text += "]}";
  }

  #writeTagged(kind: string, field: string, value: string | null): void {
    this.text += `{${TAG_IN_TEXT}:"${kind}","${field}":${JSON.stringify(value)}}`;
  }
}
