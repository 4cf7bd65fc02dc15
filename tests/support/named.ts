import type { InstanceName } from "../../src/store/instances/instance-records.ts";

/** For tests of an engine, which finds what it reads and writes by ref: only a codec looks at the name. */
export const NAMED: InstanceName = { namespace: "app", name: "checkout", id: "a" };
