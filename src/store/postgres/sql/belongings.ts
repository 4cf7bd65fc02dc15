/** Tables whose rows belong to instances, by `ref`, with which their primary keys begin. Labels are deleted with the instance. */
export const BELONGINGS = ["journal", "event", "past_run", "stream_chunk"] as const;

export type Belonging = (typeof BELONGINGS)[number];
