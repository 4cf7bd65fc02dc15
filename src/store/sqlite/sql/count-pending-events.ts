/** Events of a run that no step has received. Index: the primary keys of both tables. */
export const COUNT_PENDING_EVENTS = `
select (select count(*) from perdure_event where ref = ?1 and run = ?2)
  - (select count(*) from perdure_journal where ref = ?1 and run = ?2 and kind = 'received') as pending`;
