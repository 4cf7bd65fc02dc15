/** Whether an instance is rolled back, and what became of that. */
export const ROLLBACKS = `alter table perdure_instance add column rolling_back text;
alter table perdure_instance add column rollback text;
alter table perdure_past_run add column rollback text;
`;
