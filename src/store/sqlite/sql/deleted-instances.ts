/** Remembers whom it has to be swept up after. Index: the primary key. */
export const MARK_DELETED = "insert into perdure_deleted_instance (ref) values (?) on conflict do nothing";

/** Index: the primary key, in its order. */
export const FIND_DELETED_INSTANCE = "select ref from perdure_deleted_instance order by ref limit 1";

/** Nothing is left of it. Index: the primary key. */
export const FORGET_DELETED_INSTANCE = "delete from perdure_deleted_instance where ref = ?";
