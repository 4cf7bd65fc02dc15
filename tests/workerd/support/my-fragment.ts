import { type Duration, defineFragment, type Fragment, instantiate } from "../../../src/index.ts";
import { durableObject, type ObjectState } from "../../../src/store/sqlite/durable-object.ts";

/** Names of hooks that have run, by object. */
export const calls = new Map<string, string[]>();
/** What a hook waits for, by its name: to be found in the middle of it. */
export const gates = new Map<string, Promise<void>>();

const definition = defineFragment<{ object: string }>("my-fragment")
  .provideHooks(({ config, defineHook }) => ({
    greet: defineHook<string>(async (name) => {
      calls.set(config.object, [...(calls.get(config.object) ?? []), name]);
      await gates.get(name);
    }),
  }))
  .provideServices(({ unitOfWork }) => ({
    greet: (name: string, processAt?: Date) =>
      unitOfWork(async (uow) => void uow.triggerHook("greet", name, processAt === undefined ? {} : { processAt })),
    greetWhenQuiet: (name: string, debounce: Duration) =>
      unitOfWork(async (uow) => void uow.triggerHook("greet", name, { key: "quiet", debounce })),
  }))
  .build();

export type MyFragment = ReturnType<typeof createMyFragmentServer>;

export function createMyFragmentServer({ state }: { env: unknown; state: ObjectState; type: "live" }) {
  return instantiate(definition)
    .withConfig({ object: String((state as { id?: unknown }).id) })
    .withOptions({ databaseAdapter: durableObject(state) })
    .build() satisfies Fragment<never, unknown>;
}
