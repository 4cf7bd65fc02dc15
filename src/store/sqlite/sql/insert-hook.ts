import { COLUMNS } from "./insert-columns.ts";

/** A trigger without a key. An id that exists is left alone. Index: the primary key. */
export const INSERT_HOOK = `
insert into perdure_hook (${COLUMNS})
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (namespace, id) do nothing`;
