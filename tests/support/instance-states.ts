import type { InstanceStatus } from "../../src/store/instances/instance-records.ts";
import { COMPLETED, ERRORED, type InstancesUnderTest, LEASE_MS, RELEASED } from "./use-instances.ts";

export interface InstanceState {
  readonly state: string;
  readonly status: InstanceStatus;
  /** Whether it has an owner, whether it is to be paused, and whether it is finished. */
  readonly held?: true;
  readonly paused?: true;
  readonly finished?: true;
  /** Brings an instance of this id there. Others that can be claimed must not be around. */
  enter(test: InstancesUnderTest, id: string): Promise<unknown>;
}

/** Every state that an instance can be in. */
export const INSTANCE_STATES: readonly InstanceState[] = [
  { state: "fresh", status: "queued", enter: (test, id) => test.create({ id }) },
  { state: "claimed", status: "running", held: true, enter: (test, id) => test.start({ id }) },
  {
    state: "lost",
    status: "running",
    held: true,
    enter: async (test, id) => {
      await test.start({ id });
      test.clock.advance(LEASE_MS);
    },
  },
  { state: "parked", status: "waiting", enter: async (test, id) => test.park(await test.start({ id })) },
  {
    state: "given back",
    status: "waiting",
    enter: async (test, id) => test.commit(await test.start({ id }), RELEASED),
  },
  {
    state: "given back after a takeover",
    status: "waiting",
    enter: async (test, id) => {
      await test.start({ id });
      test.clock.advance(LEASE_MS);
      await test.commit(await test.claimOne(), RELEASED);
    },
  },
  {
    state: "claimed, and rolled back",
    status: "rollingBack",
    held: true,
    enter: async (test, id) => test.commit(await test.start({ id }), { kind: "rollingBack", error: '"no"' }),
  },
  {
    state: "to be rolled back",
    status: "rollingBack",
    enter: async (test, id) => {
      await test.start({ id });
      await test.statements.rollBack(test.named(id));
    },
  },
  {
    state: "to be paused",
    status: "waitingForPause",
    held: true,
    paused: true,
    enter: async (test, id) => {
      await test.start({ id });
      await test.statements.pause(test.named(id));
    },
  },
  ...["fresh", "parked", "given back", "given back after a takeover"].map(
    (state): InstanceState => ({
      state: `paused, ${state}`,
      status: "paused",
      paused: true,
      enter: async (test, id) => {
        await INSTANCE_STATES.find((candidate) => candidate.state === state)?.enter(test, id);
        await test.statements.pause(test.named(id));
      },
    }),
  ),
  {
    state: "paused, given back to be paused after a takeover",
    status: "paused",
    paused: true,
    enter: async (test, id) => {
      await test.start({ id });
      test.clock.advance(LEASE_MS);
      const instance = await test.claimOne();
      await test.statements.pause(test.named(id));
      await test.commit(instance, RELEASED);
    },
  },
  {
    state: "complete",
    status: "complete",
    finished: true,
    enter: async (test, id) => test.commit(await test.start({ id }), COMPLETED),
  },
  {
    state: "complete though to be paused",
    status: "complete",
    finished: true,
    enter: async (test, id) => {
      const instance = await test.start({ id });
      await test.statements.pause(test.named(id));
      await test.commit(instance, COMPLETED);
    },
  },
  {
    state: "errored",
    status: "errored",
    finished: true,
    enter: async (test, id) => test.commit(await test.start({ id }), ERRORED),
  },
  {
    state: "terminated",
    status: "terminated",
    finished: true,
    enter: async (test, id) => {
      await test.create({ id });
      await test.statements.terminate(test.named(id));
    },
  },
];
