import type { InstanceLease, NewEntry } from "../../src/store/instances/instance-records.ts";
import type { StreamChunk, StreamRange } from "../../src/store/streams/stream-records.ts";
import { decodeValue, StreamReference } from "../../src/values/index.ts";
import { readPoured } from "../workloads/poured.ts";
import type { World } from "../world.ts";
import { type InstanceAccount, isOwner, stepOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

interface ChunkAccount {
  readonly number: number;
  readonly run: number;
  readonly lock: string;
  /** With its format in front. */
  readonly bytes: number;
  /** When it was written, in the order of all chunks. */
  readonly turn: number;
}

type Read = (text: string) => Record<string, unknown>[];

const CHUNKS = `select ref, stream, number, length(data) as bytes from perdure_stream_chunk
where ref not in (select ref from perdure_deleted_instance)`;

/** The ledger of streams: their chunks, by instance and name, and what was read of them. */
export class StreamBook {
  readonly #world: World;
  readonly #book: InstanceBook;
  readonly #chunks = new Map<string, Map<string, ChunkAccount[]>>();
  /** By the key of the step: the call of its function that returned the stream that was read. */
  readonly #read = new Map<string, string>();
  #turns = 0;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  written(lease: InstanceLease, { stream, number, data }: StreamChunk, held: boolean): void {
    const { ref, run, lock } = lease;
    const account = this.#book.accounts.get(ref);
    const owns = account !== undefined && isOwner(account, lease);
    if (held !== owns) this.#violate("at most one owner", `${lock} ${held ? "wrote" : "couldn't write"} to ${ref}`);
    if (!held) return;
    const streams = this.#chunks.get(ref) ?? new Map<string, ChunkAccount[]>();
    const chunks = streams.get(stream) ?? [];
    this.#chunks.set(ref, streams.set(stream, chunks));
    if (chunks.some((chunk) => chunk.number === number)) return; // it was sent again
    chunks.push({ number, run, lock, bytes: data.length, turn: ++this.#turns });
  }

  /** An owner that has lost the run deletes nothing, however late its statement arrives. */
  wiped({ ref, from, below, except, lease }: StreamRange): void {
    const account = this.#book.accounts.get(ref);
    if (lease !== undefined && (account === undefined || !isOwner(account, lease))) return;
    const streams = this.#chunks.get(ref) ?? new Map();
    for (const stream of [...streams.keys()]) {
      if (stream >= from && stream < below && stream !== except) streams.delete(stream);
    }
  }

  wipedRuns(ref: string, before: number): void {
    const streams = this.#chunks.get(ref) ?? new Map<string, ChunkAccount[]>();
    for (const [stream, chunks] of [...streams]) if (chunks.some(({ run }) => run < before)) streams.delete(stream);
  }

  /** A step is completed: its whole stream is stored, and nothing that other attempts had written. */
  completed({ ref }: InstanceAccount, label: string, { value }: NewEntry, lock: string): void {
    const reference = value === null ? null : decodeValue(value);
    if (!(reference instanceof StreamReference)) return;
    const streams = this.#chunks.get(ref) ?? new Map<string, ChunkAccount[]>();
    const chunks = streams.get(reference.id) ?? [];
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes - 1, 0);
    const inOrder = chunks.every(({ number }, index) => number === index);
    if (!inOrder || chunks.length !== reference.chunks || bytes !== reference.bytes) {
      this.#violate("a stream is stored whole", `${label}: ${chunks.length} chunks, ${bytes} bytes`);
    }
    const beginning = reference.id.slice(0, reference.id.lastIndexOf("\n") + 1);
    const first = chunks[0]?.turn ?? 0;
    for (const [stream, others] of streams) {
      if (stream === reference.id || !stream.startsWith(beginning)) continue;
      if (others.every((chunk) => chunk.turn > first && chunk.lock === lock)) continue;
      this.#violate("nothing of another attempt is left", `${label}: ${JSON.stringify(stream)}`);
    }
  }

  /** A workflow's code has read all of a stream. However often it does, it gets the same. */
  read(instanceId: string, text: string): void {
    const poured = readPoured(text);
    if (poured === null)
      return this.#violate("a stream is read as it was stored", `${instanceId}: ${text.slice(0, 80)}`);
    const { key, call } = poured;
    const [ref] = key.split("/") as [string];
    if (this.#book.accounts.get(ref)?.id !== instanceId) {
      this.#violate("a stream is read as it was stored", `${instanceId} got what ${key} gave`);
    }
    if (!this.#isCompleted(key)) return; // it may be given again
    const before = this.#read.get(key) ?? call;
    this.#read.set(key, call);
    if (before !== call) this.#violate("a stream is the same each time", `${key}: of call ${before}, then ${call}`);
  }

  #isCompleted(key: string): boolean {
    const [ref, run, ...step] = key.split("/") as [string, string, ...string[]];
    const journal = this.#book.accounts.get(ref)?.runs.get(Number(run))?.journal ?? [];
    return journal.some((entry) => entry.kind === "completed" && stepOf(entry) === step.join("/"));
  }

  /** Rows and accounts must be the same chunks. */
  compare(read: Read): void {
    const rows = new Set(read(CHUNKS).map(({ ref, stream, number, bytes }) => labelOf(ref, stream, number, bytes)));
    for (const [ref, streams] of this.#chunks) {
      if (this.#book.accounts.get(ref)?.state === "gone") {
        this.#chunks.delete(ref);
        continue;
      }
      for (const [stream, chunks] of streams) {
        for (const { number, bytes } of chunks) {
          const label = labelOf(ref, stream, number, bytes);
          if (!rows.delete(label)) this.#violate("nothing accepted is lost", `the chunk ${label}`);
        }
      }
    }
    for (const label of rows) this.#violate("nothing appears by itself", `the chunk ${label}`);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

function labelOf(ref: unknown, stream: unknown, number: unknown, bytes: unknown): string {
  return JSON.stringify([ref, stream, number, bytes]);
}
