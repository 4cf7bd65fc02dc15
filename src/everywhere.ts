/** The package's exports that run on every JavaScript runtime: all that a Cloudflare Worker gets. */

export type { Application, HookHandle, HookHandles } from "./app/application.ts";
export type { ApplicationSubjects } from "./app/application-subjects.ts";
export type { Clock, Timer } from "./clock.ts";
export type { Duration } from "./duration.ts";
export {
  AttemptAbortedError,
  CodecError,
  CommitOutcomeUnknownError,
  ConflictError,
  EventTimeoutError,
  InvalidInputError,
  NonRetryableError,
  NotFoundError,
  PerdureError,
  RevisionConflictError,
  SchemaError,
  StoreError,
  UnreadableValueError,
  WaitInsideStepError,
  WorkflowFailedError,
  WorkflowTerminatedError,
  WorkflowTimeoutError,
} from "./errors.ts";
export { createDurableHooksProcessor, type DurableHooksProcessor } from "./fragment/create-processor.ts";
export {
  defineFragment,
  type FragmentBuilder,
  type FragmentDefinition,
  type HooksContext,
  type RunUnitOfWork,
  type ServicesContext,
} from "./fragment/define-fragment.ts";
export type { AnyFragment, Fragment } from "./fragment/fragment.ts";
export { type FragmentInstantiation, type FragmentOptions, instantiate } from "./fragment/instantiate.ts";
export { migrate } from "./fragment/migrate.ts";
export type { TriggerArguments, UnitOfWork } from "./fragment/unit-of-work.ts";
export type { RunWithin, WithinAsync, WithinSync } from "./fragment/within.ts";
export { type WorkflowsConfig, type WorkflowsFragment, workflowsFragment } from "./fragment/workflows-fragment.ts";
export {
  type AnyHookDefinition,
  defineHook,
  type HookDefinition,
  type HookDefinitions,
  type HookInput,
  type HookOptions,
} from "./hooks/define-hook.ts";
export type {
  CancelledHooks,
  DurableHooks,
  HookListOptions,
  HookPage,
  HookSummary,
} from "./hooks/durable-hooks.ts";
export type { HookBatchOptions, HookItem } from "./hooks/hook-batches.ts";
export type { HookContext, HookSurroundings, HookTransactionConfig } from "./hooks/hook-context.ts";
export type { HookFilterOptions } from "./hooks/hook-filter.ts";
export type { DurableHooksOptions, StuckHook, StuckHooksReport } from "./hooks/hook-settings.ts";
export type { DebounceOptions, TriggerOptions } from "./hooks/trigger.ts";
export type { TriggeredHook } from "./hooks/write-triggers.ts";
export type { JobCount } from "./jobs/find-items.ts";
export type { JobError } from "./jobs/job-progress.ts";
export type {
  HookJobAction,
  HookJobRequest,
  InstanceJobAction,
  InstanceJobRequest,
  JobHookFilter,
  JobInstanceFilter,
  JobOptions,
  JobRequest,
} from "./jobs/job-request.ts";
export type { Job, JobListOptions, JobPage, JobState, Jobs } from "./jobs/jobs.ts";
export type { Logger } from "./logger.ts";
export type { ActivityOptions, ActivityReport } from "./monitoring/activity-report.ts";
export type { Alert, AlertDetails, AlertTarget, OnAlert } from "./monitoring/alerts.ts";
export type { AuditedChange, AuditTarget, OnChange } from "./monitoring/audit.ts";
export type { ExplainedStep, Explanation, WaitingReason } from "./monitoring/explanation.ts";
export type { DispatcherHealth, Health, HealthState } from "./monitoring/health.ts";
export type { InstanceInLine, LineListOptions, LinePage, LineSummary } from "./monitoring/list-lines.ts";
export type { UnclaimedWork } from "./monitoring/list-unclaimed.ts";
export type { WorkerSummary } from "./monitoring/list-workers.ts";
export type { ActivityField, ActivityMinute } from "./monitoring/meters/activity.ts";
export type { HistogramSnapshot } from "./monitoring/meters/histogram.ts";
export type { AttemptOutcome, FlushName } from "./monitoring/meters/meter.ts";
export type {
  ClaimMetrics,
  FlushMetrics,
  HookMetrics,
  Metrics,
  WorkflowMetrics,
} from "./monitoring/metrics.ts";
export type { QueueGauges } from "./monitoring/queue-gauges.ts";
export type {
  RunTrace,
  Telemetry,
  TraceContext,
  TracedHook,
  TracedRun,
  TracedStep,
  TracedTrigger,
  WorkSpan,
} from "./monitoring/tracing.ts";
export type { ConcurrencyOptions, RateLimitOptions } from "./queue/flow-control.ts";
export type { OwnedTransaction } from "./queue/owned-transaction.ts";
export type { Backoff, RetryOptions } from "./queue/retry-policy.ts";
export type { Randomness } from "./randomness.ts";
export { type AesGcmOptions, aesGcm } from "./store/codec/aes-gcm.ts";
export type { Codec } from "./store/codec/codec.ts";
export type { AsyncTransaction, ForeignTransaction, SyncTransaction } from "./store/foreign-transaction.ts";
export type { HookStatistics, HookStatus } from "./store/hooks/hook-records.ts";
export type { InstanceStatus } from "./store/instances/instance-records.ts";
export type { FragmentMigration, FragmentTables } from "./store/migration.ts";
export type { QueueBacklog } from "./store/queue/backlog.ts";
export type { SqlRow, SqlValue } from "./store/sql-value.ts";
export type { DatabaseAdapter } from "./store/store.ts";
export type { SubjectStatus } from "./store/subjects/subject-records.ts";
export { defineSubjects, type SubjectsDefinition, type SubjectsOptions } from "./subjects/define-subjects.ts";
export type { SubjectRetries, SubjectSettings } from "./subjects/dispatcher-settings.ts";
export type { HandlingOptions, RunOptions, RunReport } from "./subjects/run-subjects.ts";
export type { SubjectDispatcher, SubjectPage } from "./subjects/subject-dispatcher.ts";
export type {
  CheckpointOptions,
  ClaimOptions,
  CompleteOptions,
  DiscoveredSubject,
  FailOptions,
  SubjectListOptions,
  SubjectReference,
  SyncOptions,
  SyncReport,
  Time,
} from "./subjects/subject-inputs.ts";
export type {
  HandleSubject,
  ListedSubject,
  SubjectContext,
  SubjectOutcome,
  SubjectProgress,
  SubjectResult,
  SubjectState,
} from "./subjects/subject-state.ts";
export type { Discovered } from "./subjects/sync-discovered.ts";
export { fromClient, type PostgresClient } from "./transactions/from-client.ts";
export { fromDrizzle } from "./transactions/from-drizzle.ts";
export { fromDurableObject } from "./transactions/from-durable-object.ts";
export { fromKnex } from "./transactions/from-knex.ts";
export { fromKysely } from "./transactions/from-kysely.ts";
export { fromMikroOrm } from "./transactions/from-mikro-orm.ts";
export { fromPg } from "./transactions/from-pg.ts";
export { fromPglite } from "./transactions/from-pglite.ts";
export { fromPostgresJs } from "./transactions/from-postgres-js.ts";
export { fromPrisma } from "./transactions/from-prisma.ts";
export { fromBetterSqlite3, fromNodeSqlite } from "./transactions/from-sqlite.ts";
export { fromTypeOrm } from "./transactions/from-typeorm.ts";
export type { Unreadable } from "./values/index.ts";
export { defineWorkflow, type WorkflowContext } from "./workflows/define/define-workflow.ts";
export { WorkflowEntrypoint } from "./workflows/define/entrypoint.ts";
export type { Labels } from "./workflows/define/labels.ts";
export type { RetentionOptions } from "./workflows/define/retention.ts";
export type { WorkflowSensitivity } from "./workflows/define/sensitivity.ts";
export type {
  RetryDelay,
  StepRetries,
  TransactionStepConfig,
  WaitOptions,
  WorkflowRollbackContext,
  WorkflowRollbackHandler,
  WorkflowStep,
  WorkflowStepConfig,
  WorkflowStepContext,
  WorkflowStepRollbackConfig,
  WorkflowStepRollbackOptions,
} from "./workflows/define/step.ts";
export type { OnDivergence } from "./workflows/define/strictness.ts";
export type {
  CompletedEvent,
  ErroredEvent,
  TerminalHandler,
  TerminalHooks,
  TerminatedEvent,
} from "./workflows/define/terminal-hooks.ts";
export type { ReceivedEvent, WorkflowCronSchedule, WorkflowEvent } from "./workflows/define/workflow-event.ts";
export type { WorkflowLimits } from "./workflows/define/workflow-settings.ts";
export type { AnyWorkflow, WorkflowDefinition, Workflows } from "./workflows/define/workflow-types.ts";
export type { AllInstances } from "./workflows/instances/all-instances.ts";
export type {
  BatchError,
  BatchOptions,
  ChildArguments,
  ChildOptions,
  CreatedBatch,
  CreateOptions,
  DeletedBatch,
  NewInstance,
  RestartedInstance,
  RestartOptions,
} from "./workflows/instances/create/create-options.ts";
export type {
  InstanceLimits,
  InstanceParent,
  InstanceSchedule,
  InstanceState,
  InstanceSummary,
  ResultOptions,
  SentEvent,
  UnreceivedEvent,
  UnreceivedEvents,
  WorkflowInstance,
} from "./workflows/instances/instance.ts";
export type { RestartPoint } from "./workflows/instances/kept-entries.ts";
export type { TypedBindings } from "./workflows/instances/typed-bindings.ts";
export type {
  AllInstanceCounts,
  InstanceCounts,
  InstanceFilterOptions,
  InstanceListOptions,
  InstancePage,
  WorkflowBinding,
  WorkflowBindings,
} from "./workflows/instances/workflow-binding.ts";
export type {
  ScheduleSelection,
  ScheduleSummary,
  WorkflowSchedules,
} from "./workflows/schedules/schedule-operations.ts";
export type { ScheduleOption } from "./workflows/schedules/schedule-option.ts";
export { StoredStream } from "./workflows/streams/stored-stream.ts";
export type { StepToken } from "./workflows/tokens/step-token.ts";
export type { TokenOptions } from "./workflows/tokens/token-options.ts";
export type { EarlierRun, HistoryItem, HistoryOptions, HistoryPage } from "./workflows/views/history-page.ts";
export type {
  SubscribeOptions,
  WorkflowInstanceEvent,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "./workflows/views/instance-event.ts";
