/** How far an instance has come. Indexes: both primary keys. */
export const READ_POSITION = `
select run, status, coalesce((
    select max(position) from perdure_journal as journal
    where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run
  ), 0) as position
from perdure_instance
where ref = ?`;
