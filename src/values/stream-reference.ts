import { TAG } from "./tags.ts";

/** What is stored instead of a stream: where its chunks are, and how much there is. */
export class StreamReference {
  readonly id: string;
  /** What it was a stream of. */
  readonly kind: "bytes" | "text";
  readonly bytes: number;
  readonly chunks: number;

  constructor({ id, kind, bytes, chunks }: Pick<StreamReference, "id" | "kind" | "bytes" | "chunks">) {
    this.id = id;
    this.kind = kind;
    this.bytes = bytes;
    this.chunks = chunks;
  }

  /** As it is stored. */
  get text(): string {
    const { id, kind, bytes, chunks } = this;
    return JSON.stringify({ [TAG]: "stream", id, kind, bytes, chunks });
  }
}
