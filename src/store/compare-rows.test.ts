import { expect, test } from "vitest";
import { encodeError } from "../values/index.ts";
import { compareRows, MOST_COMPARED } from "./compare-rows.ts";

const rows = (count: number, matching: (index: number) => boolean) =>
  Array.from({ length: count }, (_, index) => ({
    place: String(index).padStart(6, "0"),
    matches: matching(index),
    error: encodeError(new Error(`failure ${index}`)),
  }));

function search(all: ReturnType<typeof rows>, limit: number, after: string | null, error: string | null = null) {
  let read = 0;
  const found = compareRows({
    error,
    after,
    limit,
    read: async (from, most) => {
      const page = all.filter(({ place }) => from === null || place > from).slice(0, most);
      read += page.length;
      return page;
    },
    placeOf: ({ place }) => place,
  });
  return found.then((result) => ({ ...result, read }));
}

test("a search compares no more rows than it may, and continues where it ended", async () => {
  const all = rows(MOST_COMPARED + 5000, (index) => index >= MOST_COMPARED + 4000);
  const first = await search(all, 10, null);
  expect(first.found).toEqual([]);
  expect(first.read).toBeGreaterThanOrEqual(MOST_COMPARED);
  expect(first.read).toBeLessThan(MOST_COMPARED + 100);

  const second = await search(all, 2000, first.continueAfter);
  expect(second.found).toHaveLength(1000);
  expect(second.continueAfter).toBeNull();
});

test("a search ends with as many matches as it looks for", async () => {
  const all = rows(1000, (index) => index % 2 === 0);
  const { found, continueAfter, read } = await search(all, 3, null);
  expect(found.map(({ place }) => place)).toEqual(["000000", "000002", "000004"]);
  expect(continueAfter).toBe("000004");
  expect(read).toBe(100);
});

test("a search compares the text of errors in lower case", async () => {
  const all = rows(1000, () => true);
  expect((await search(all, 10, null, "failure 77")).found).toHaveLength(10);
  expect((await search(all, 20, null, "failure 77")).found).toHaveLength(11);
});
