/** Progress isn't something done. */
const JOURNAL_LENGTH = `coalesce((
    select position from perdure_journal as journal
    where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run and journal.kind <> 'progress'
    order by position desc limit 1
  ), 0)`;

/** An owner was lost: the first in a row, if the journal has grown since the last time. Indexes: both primary keys. */
export const COUNT_RECOVERY = `
update perdure_instance set
  recoveries = case when ${JOURNAL_LENGTH} > recovered_position then 1 else recoveries + 1 end,
  recovered_position = ${JOURNAL_LENGTH}
where ref = ?
returning recoveries`;
