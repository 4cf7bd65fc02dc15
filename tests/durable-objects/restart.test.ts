import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/wait-until.ts";
import { useWorkerd } from "./support/use-workerd.ts";

describe("objects of a workerd that ends and is started again on the same storage", () => {
  const workerd = useWorkerd();
  const ended = (key: string, id: string) =>
    waitUntil(`${id} is complete`, async () => {
      const state = await workerd.ask(`/show/${key}/${id}`);
      return state["status"] === "complete" && state;
    });

  test("resume what sleeps, and run no committed step again", async () => {
    await workerd.ask("/create/order/sleeper?nap=9000");
    await waitUntil("it sleeps, with its first step stored", async () => {
      const state = await workerd.ask("/show/order/sleeper");
      return state["status"] === "waiting" && state["entries"] === 2;
    });
    await workerd.restart();

    const { output } = await ended("order", "sleeper");
    const { first, second } = output as { first: string; second: string };
    expect(second).toBe(first);
  });

  test("resume what ran, as another attempt", async () => {
    await workerd.ask("/create/hang/runner");
    await waitUntil("it runs", async () => (await workerd.ask("/show/hang/runner"))["status"] === "running");
    await workerd.restart();

    expect((await ended("hang", "runner"))["output"]).toBe(2);
  });

  test("continue by themselves, without a request", async () => {
    await workerd.ask("/create/order/alone?nap=6000");
    await waitUntil("it sleeps", async () => (await workerd.ask("/show/order/alone"))["status"] === "waiting");
    await workerd.restart();

    await waitUntil("it does its second step", () => workerd.requests.includes("/second/alone"));
    await ended("order", "alone");
  });
});
