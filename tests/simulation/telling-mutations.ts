import { type Mutation, rewriting } from "./rewriting.ts";

const DROP = /^update perdure_journal set value = null/;
const COUNT_RECOVERY = /^update perdure_instance set\s+recoveries = case when/;
const WIPE = /^delete from perdure_stream_chunk where ref = \? and stream/;
const READ = /^select data from perdure_stream_chunk/;

/** Protections of what steps tell while they run, and of the streams that they give. */
export const TELLING_MUTATIONS: readonly Mutation[] = [
  rewriting("what a step has told stays when it is done", [[DROP, "set value = null", "set value = value"]]),
  rewriting("what other steps have told is dropped, too", [
    [DROP, "position >= ?", "(position >= ? or true)"],
    [DROP, "name = ?", "(name = ? or true)"],
  ]),
  rewriting("telling something counts as having done something", [
    [COUNT_RECOVERY, /journal\.kind <> 'progress'/g, "true"],
  ]),
  rewriting("what another attempt has poured stays", [[WIPE, "stream is not ?", "stream is not ? and false"]]),
  rewriting("a stream gives a chunk twice", [[READ, "number = ?", "number = ? % 2"]]),
  {
    name: "chunks are taken from an owner that has lost its instance",
    seed: 75,
    options: {
      wrapStreams: (streams) => ({
        read: (ref, stream, number) => streams.read(ref, stream, number),
        wipe: (range) => streams.wipe(range),
        wipeRuns: (ref, before) => streams.wipeRuns(ref, before),
        write: async (lease, chunk) => {
          await streams.write(lease, chunk);
          return true;
        },
      }),
    },
  },
];
