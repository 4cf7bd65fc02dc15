/** What only some instances have: see `InstanceTraits`. */
export const INSTANCE_TRAITS = `alter table perdure_instance add column success_retention integer;
alter table perdure_instance add column error_retention integer;
alter table perdure_instance add column priority integer not null default 0;
alter table perdure_instance add column slot_key text;
alter table perdure_instance add column rate_key text;
alter table perdure_instance add column schedule text;
alter table perdure_instance add column labels text;
`;
