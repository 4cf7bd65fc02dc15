import { expectTypeOf, test } from "vitest";
import type { HookHandles } from "../app/perdure.ts";
import { defineHook, type HookDefinitions } from "./define-hook.ts";

function handlesOf<const Hooks extends HookDefinitions>(hooks: Hooks): HookHandles<Hooks> {
  const handles = Object.keys(hooks).map((name) => [name, { trigger: async () => ({ id: name }) }]);
  return Object.fromEntries(handles) as HookHandles<Hooks>;
}

test("a hook without a payload that is defined where it is given can be triggered without one", () => {
  const handles = handlesOf({ plain: defineHook(() => {}), withOptions: defineHook({}, async () => {}) });
  expectTypeOf(handles.plain.trigger).toBeCallableWith();
  expectTypeOf(handles.withOptions.trigger).toBeCallableWith();
});

test("the payload of a hook that is defined where it is given is its handler's", () => {
  const handles = handlesOf({ send: defineHook({}, (mail: { to: string }) => mail.to) });
  expectTypeOf(handles.send.trigger).parameter(0).toEqualTypeOf<{ to: string }>();
});
