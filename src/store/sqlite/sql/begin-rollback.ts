/** It has failed, and stays with its owner while it is rolled back. Index: the primary key. */
export const BEGIN_ROLLBACK = `update perdure_instance set rolling_back = 'errored', error = ? where ref = ?`;
