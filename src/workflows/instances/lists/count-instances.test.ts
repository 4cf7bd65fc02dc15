import { describe, expect, test } from "vitest";
import type { InstanceStatus } from "../../../store/instances/instance-records.ts";
import { addCounts, toCounts } from "./count-instances.ts";

const counted = (counts: Partial<Record<InstanceStatus, number>>) =>
  Object.entries(counts).map(([status, count]) => ({ name: "work", status: status as InstanceStatus, count }));

describe("counts of instances", () => {
  test("are exact up to the limit, and say which of them are lower limits beyond it", () => {
    const found = counted({ complete: 11, errored: 10, waiting: 3 });

    expect(toCounts(found, 10)).toMatchObject({
      total: 23,
      complete: 10,
      errored: 10,
      waiting: 3,
      queued: 0,
      atLeast: ["total", "complete"],
    });
    expect(toCounts(found, Number.POSITIVE_INFINITY)).toMatchObject({ total: 24, complete: 11, atLeast: [] });
  });

  test("add up what was found of a status in two places", () => {
    const found = [...counted({ rollingBack: 6 }), ...counted({ rollingBack: 5 })];

    expect(toCounts(found, 20)).toMatchObject({ total: 11, rollingBack: 11, atLeast: [] });
    expect(toCounts(found, 10)).toMatchObject({ total: 10, rollingBack: 10, atLeast: ["total", "rollingBack"] });
  });

  test("of several workflows are lower limits where one of them is", () => {
    const sum = addCounts([
      toCounts(counted({ complete: 11 }), 10),
      toCounts(counted({ complete: 2, errored: 1 }), 10),
    ]);

    expect(sum).toMatchObject({ total: 13, complete: 12, errored: 1, atLeast: ["total", "complete"] });
    expect(addCounts([])).toMatchObject({ total: 0, atLeast: [] });
  });
});
