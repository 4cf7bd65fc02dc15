import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { startApplication } from "../../bench/growth/application.ts";
import { openFiller } from "../../bench/growth/filler.ts";
import { openDatabases } from "../../bench/harness/databases.ts";
import { readNumber } from "../../bench/harness/options.ts";
import { UsageError } from "../../bench/harness/usage-error.ts";
import { countSqliteStatements } from "../../bench/idle/sqlite-statements.ts";
import { Returns } from "../../bench/workflows/returns.ts";

test("instances that the benchmark copies by SQL are listed, counted and read like real ones", async () => {
  await using databases = await openDatabases("sqlite");
  await using database = await databases.create();
  await using application = await startApplication(database.address, 10);
  const originals = await application.createOriginals();
  await using filler = await openFiller("sqlite", database.address);
  await filler.copy(originals.order, 7);
  await filler.copy(originals.failing, 2);
  await filler.copy(originals.reminder, 3);

  const { instances } = application.app;
  const { total } = await instances.counts();
  expect([total.complete, total.errored, total.waiting]).toEqual([8, 3, 4]);
  const { instances: listed } = await instances.list({ status: "complete" });
  expect(new Set(listed.map(({ id }) => id)).size).toBe(8);
  expect(listed[0]?.id).toBe(originals.order);
  const oldest = await instances.get("order", listed.at(-1)?.id ?? "");
  expect((await oldest.history()).entries.length).toBeGreaterThan(0);
});

test("the benchmark keeps a number of workflows in flight, and starts one whenever one returns", async () => {
  const returns = new Returns();
  let open = 0;
  let most = 0;
  let begun = 0;
  await returns.inFlight(20, 4, async () => {
    begun++;
    most = Math.max(most, ++open);
    void returns.note(
      (async () => {
        await new Promise(setImmediate);
        open--;
      })(),
    );
  });
  expect([begun, most]).toEqual([20, 4]);
});

test("the benchmark counts the statements of node:sqlite until it is told to stop", () => {
  const database = new DatabaseSync(":memory:");
  const counter = countSqliteStatements();
  database.exec("create table letter (text)");
  database.prepare("insert into letter values (?)").run("a");
  database.prepare("select * from letter").all();
  counter[Symbol.dispose]();
  database.exec("drop table letter");
  expect(counter.count).toBe(3);
  database.close();
});

test("the benchmark refuses sizes that are no whole numbers", () => {
  expect(readNumber("finished", undefined, 5)).toBe(5);
  expect(readNumber("finished", "12", 5)).toBe(12);
  for (const text of ["0", "1.5", "many", "-1"]) {
    expect(() => readNumber("finished", text, 5)).toThrow(UsageError);
  }
});
