import { expect, test } from "vitest";
import { ControlledClock } from "../../../testing/controlled-clock.ts";
import { CommitWatch } from "./commit-watch.ts";
import type { Connection } from "./connection.ts";

/** A watch over a server whose transactions are open until they are committed here. */
function watchTransactions() {
  const clock = new ControlledClock();
  const committed = new Set<string>();
  let questions = 0;
  const run = async (_statement: unknown, [ids]: [readonly string[]]) => {
    questions++;
    return { rows: ids.map((id) => ({ id, status: committed.has(id) ? "committed" : "in progress" })) };
  };
  const watch = new CommitWatch({ run } as unknown as Connection, clock);
  const heard: string[] = [];
  return {
    clock,
    heard,
    commit: (id: string) => void committed.add(id),
    begin: (id: string) => watch.watch(id, () => heard.push(id)),
    get questions() {
      return questions;
    },
  };
}

test("a commit is noticed at once when a client says that the transaction has ended, however long that was open", async () => {
  const server = watchTransactions();
  const ended = server.begin("1");
  await server.clock.advanceAndSettle(60_000);
  server.commit("1");
  ended();
  await server.clock.advanceAndSettle(0);

  expect(server.heard).toEqual(["1"]);
});

test("a commit is noticed within milliseconds, however many other transactions begin meanwhile", async () => {
  const server = watchTransactions();
  server.begin("1");
  server.commit("1");
  for (let id = 2; id <= 10; id++) {
    await server.clock.advanceAndSettle(1);
    server.begin(String(id));
  }

  expect(server.heard).toEqual(["1"]);
});

test("a commit is heard of after at most half of the time that its transaction was open", async () => {
  for (const openMs of [20, 60, 130, 260, 600]) {
    const server = watchTransactions();
    server.begin("1");
    await server.clock.advanceAndSettle(openMs);
    server.commit("1");
    await server.clock.advanceAndSettle(openMs / 2);

    expect(server.heard).toEqual(["1"]);
  }
});

test("a transaction that stays open is asked about less and less often", async () => {
  const server = watchTransactions();
  server.begin("1");
  await server.clock.advanceAndSettle(60_000);

  expect(server.questions).toBeLessThan(140);
});
