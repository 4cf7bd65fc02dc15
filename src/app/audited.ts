import type { DurableHooks } from "../hooks/durable-hooks.ts";
import type { JobRequest } from "../jobs/job-request.ts";
import type { Job, Jobs } from "../jobs/jobs.ts";
import type { AuditTrail } from "../monitoring/audit.ts";
import type { SubjectDispatcher } from "../subjects/subject-dispatcher.ts";
import type { AllInstances } from "../workflows/instances/all-instances.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type { WorkflowBindings } from "../workflows/instances/workflow-binding.ts";
import type { ScheduleSelection, WorkflowSchedules } from "../workflows/schedules/schedule-operations.ts";
import type { ApplicationSubjects } from "./application-subjects.ts";

interface Operations {
  readonly workflows: object;
  readonly instances: AllInstances;
  readonly schedules: WorkflowSchedules;
  readonly durableHooks: DurableHooks;
  readonly jobs: Jobs;
  readonly subjects: ApplicationSubjects;
}

/** The stored name of a workflow, by its key. */
type Names = (key: string) => string;

/** The same objects, which report each change. The instances that they return do so, too. */
export function auditOperations<Offered extends Operations>(plain: Offered, names: Names, trail: AuditTrail): Offered {
  return {
    ...plain,
    workflows: auditBindings(plain.workflows as WorkflowBindings, names, trail),
    instances: auditInstances(plain.instances, trail),
    schedules: auditSchedules(plain.schedules, trail),
    durableHooks: auditHooks(plain.durableHooks, trail),
    jobs: auditJobs(plain.jobs, trail),
    subjects: auditSubjects(plain.subjects, trail),
  };
}

type AnyInstance = Pick<WorkflowInstance, "id" | "workflowName">;
type AnyBinding = WorkflowBindings[string];

const INSTANCE_ACTIONS: Readonly<Record<string, string>> = {
  pause: "pauseInstance",
  resume: "resumeInstance",
  terminate: "terminateInstance",
  restart: "restartInstance",
  retryFailedStep: "retryInstance",
  delete: "deleteInstance",
};
/** The application itself creates and sends all day: of that, only the actions of a named actor are reported. */
const NAMED_ACTIONS: Readonly<Record<string, string>> = { ...INSTANCE_ACTIONS, sendEvent: "sendEvent" };

type Method = (...parameters: unknown[]) => unknown;

/** The same object, with some of its methods replaced. */
function replaceMethods<Target extends object>(target: Target, methods: Readonly<Record<string, Method>>): Target {
  return new Proxy(target, {
    get: (_target, name) => {
      if (typeof name === "string" && Object.hasOwn(methods, name)) return methods[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Calls a method of an object by its name. */
function call(target: object, name: string, parameters: readonly unknown[]): Promise<unknown> {
  return Reflect.apply(Reflect.get(target, name) as Method, target, parameters) as Promise<unknown>;
}

function auditInstance<Instance extends AnyInstance>(instance: Instance, trail: AuditTrail): Instance {
  const { workflowName, id: instanceId } = instance;
  const target = { kind: "instance", workflowName, instanceId } as const;
  const actions = Object.entries(trail.actor === null ? INSTANCE_ACTIONS : NAMED_ACTIONS);
  const methods = actions.map(([name, action]): [string, Method] => [
    name,
    (...parameters) =>
      trail.record({ action, target }, () =>
        call(instance, name, name === "pause" ? withActor(parameters, trail) : parameters),
      ),
  ]);
  return replaceMethods(instance, Object.fromEntries(methods));
}

function withActor([options]: readonly unknown[], { actor }: AuditTrail): unknown[] {
  return actor === null ? [options] : [{ by: actor, ...(options as object | undefined) }];
}

function auditInstances<Instances extends AllInstances>(instances: Instances, trail: AuditTrail): Instances {
  const get = async (workflow: string, id: string) => auditInstance(await instances.get(workflow, id), trail);
  return Object.freeze({ ...instances, get }) as Instances;
}

export function auditBindings(bindings: WorkflowBindings, names: Names, trail: AuditTrail): WorkflowBindings {
  const audited = Object.entries(bindings).map(([key, binding]) => [key, auditBinding(binding, names(key), trail)]);
  return Object.freeze(Object.fromEntries(audited)) as WorkflowBindings;
}

function auditBinding(binding: AnyBinding, workflowName: string, trail: AuditTrail): AnyBinding {
  const target = { kind: "workflow", workflowName } as const;
  const audit = <Instance extends AnyInstance>(instance: Instance) => auditInstance(instance, trail);
  const create = (name: string, action: string, wrap: (result: never) => unknown, idsOf: (result: never) => string[]) =>
    [
      name,
      async (...parameters: unknown[]) => {
        const perform = () => call(binding, name, parameters);
        const result =
          trail.actor === null
            ? await perform()
            : await trail.record({ action, target, idsOf: idsOf as (result: unknown) => string[] }, perform);
        return wrap(result as never);
      },
    ] as const;
  type One = { readonly instance: WorkflowInstance };
  type Many = readonly WorkflowInstance[] | { readonly created: readonly WorkflowInstance[] };
  const inside = (result: One) => ({ ...result, instance: audit(result.instance) });
  const idOfInside = ({ instance }: One) => [instance.id];
  const each = (result: Many) =>
    "created" in result ? { ...result, created: result.created.map(audit) } : result.map(audit);
  const idsOfEach = (result: Many) => ("created" in result ? result.created : result).map(({ id }) => id);
  const methods: Record<string, Method> = {
    ...Object.fromEntries([
      create("create", "createInstance", audit, ({ id }: AnyInstance) => [id]),
      create("createBatch", "createBatch", each, idsOfEach),
      create("restartOrCreate", "restartOrCreate", inside, idOfInside),
      create("createOrSend", "createOrSend", inside, idOfInside),
      create(
        "sendEventToAll",
        "sendEventToAll",
        (result) => result,
        () => [],
      ),
    ]),
    get: async (id) => audit(await binding.get(id as string)),
    deleteBatch: (ids) => {
      const given = Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
      return trail.record({ action: "deleteBatch", target, ids: given }, () => binding.deleteBatch(ids as string[]));
    },
  };
  return { ...binding, ...methods } as AnyBinding;
}

function auditSchedules(schedules: WorkflowSchedules, trail: AuditTrail): WorkflowSchedules {
  const actions = { pause: "pauseSchedule", resume: "resumeSchedule", runNow: "runSchedule" };
  const methods = Object.entries(actions).map(([name, action]): [string, Method] => [
    name,
    (...parameters) => {
      const { workflow, name: scheduleName } = Object(parameters[0]) as ScheduleSelection;
      const workflowName = String(workflow);
      const target =
        scheduleName === undefined
          ? ({ kind: "workflow", workflowName } as const)
          : ({ kind: "schedule", workflowName, scheduleName: String(scheduleName) } as const);
      const idsOf = (result: unknown) => (name === "runNow" ? [(result as AnyInstance).id] : []);
      return trail.record({ action, target, idsOf }, () => call(schedules, name, parameters));
    },
  ]);
  return replaceMethods(schedules, Object.fromEntries(methods));
}

function auditHooks(durableHooks: DurableHooks, trail: AuditTrail): DurableHooks {
  const actions = { redrive: "redriveHooks", discard: "discardHooks", cancel: "cancelHooks" };
  const methods = Object.entries(actions).map(([name, action]): [string, Method] => [
    name,
    (...parameters) => {
      const [first] = parameters;
      const ids = (Array.isArray(first) ? first : [first]).filter((id) => typeof id === "string");
      return trail.record({ action, target: { kind: "hooks" }, ids }, () => call(durableHooks, name, parameters));
    },
  ]);
  return replaceMethods(durableHooks, Object.fromEntries(methods));
}

function auditJobs(jobs: Jobs, trail: AuditTrail): Jobs {
  const audit = (job: Job): Job => ({
    ...job,
    cancel: () => trail.record({ action: "cancelJob", target: { kind: "job", jobId: job.id } }, () => job.cancel()),
  });
  const start = async (request: JobRequest) => {
    const asked = { action: "startJob", target: { kind: "jobs" }, idsOf: (id: string) => [id] } as const;
    return audit(jobs.handle(await trail.record(asked, () => jobs.startAs(request, { actor: trail.actor }))));
  };
  const get = async (id: string) => audit(await jobs.get(id));
  return replaceMethods(jobs, { start: start as Method, get: get as Method });
}

/** Handlers release their own subjects: of that, only the actions of a named actor are reported. */
function auditSubjects(subjects: ApplicationSubjects, trail: AuditTrail): ApplicationSubjects {
  const audit = (dispatcher: SubjectDispatcher): SubjectDispatcher => {
    const { dispatcherId } = dispatcher;
    const methodOf = (action: string, keyOf: (given: unknown) => unknown): [string, Method] => [
      action,
      (...parameters) => {
        const subjectKey = String(keyOf(parameters[0]));
        const target = { kind: "subject", dispatcherId, subjectKey } as const;
        return trail.record({ action, target }, () => call(dispatcher, action, parameters));
      },
    ];
    const methods = [methodOf("makeSubjectDue", (key) => key)];
    if (trail.actor !== null) {
      methods.push(methodOf("releaseSubject", (options) => (Object(options) as { subjectKey?: unknown }).subjectKey));
    }
    return replaceMethods(dispatcher, Object.fromEntries(methods));
  };
  return replaceMethods(subjects, {
    dispatcher: (...parameters) => audit(Reflect.apply(subjects.dispatcher, subjects, parameters) as SubjectDispatcher),
    define: (...parameters) => audit(Reflect.apply(subjects.define, subjects, parameters) as SubjectDispatcher),
  });
}
