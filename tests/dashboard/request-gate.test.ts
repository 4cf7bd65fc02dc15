import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDashboard, type DashboardOptions } from "../../src/dashboard/index.ts";
import { type Application, perdure } from "../../src/index.ts";
import { waitUntil } from "../support/wait-until.ts";

const AT_ONCE = 4;
const WAITING = 200;

let app: Application<Record<never, never>, Record<never, never>>;

beforeAll(async () => {
  app = await perdure({ database: ":memory:" });
});

afterAll(() => app.stop({ deadlineMs: 0 }));

/** A dashboard whose questions are answered only when they are let go: its policy waits. */
function openSlow(options: Partial<DashboardOptions> = {}) {
  const begun: { readonly path: string; readonly go: () => void }[] = [];
  const authorize = ({ request }: { readonly request: Request }) =>
    new Promise<boolean>((resolve) => {
      begun.push({ path: new URL(request.url).search, go: () => resolve(true) });
    });
  const dashboard = createDashboard(app, { authorize, payloads: true, ...options, basePath: "/ops" });
  const ask = (number: number, init: RequestInit = {}) =>
    dashboard(new Request(`http://app.test/ops/api/hooks?limit=${number}`, init));
  const redrive = () => {
    const headers = { "content-type": "application/json", "perdure-dashboard": "1" };
    const init = { method: "POST", headers, body: '{ "ids": ["none"] }' };
    return dashboard(new Request("http://app.test/ops/api/hooks/redrive", init));
  };
  const codeOf = async (answer: Promise<Response>) => ((await (await answer).json()) as { code?: string }).code;
  /** Those that were given the database, in order. */
  const paths = () => begun.map(({ path }) => Number(path.slice("?limit=".length)));
  return { ask, redrive, begun, codeOf, paths };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("the dashboard's questions", () => {
  test("are answered a few at a time, in order, and refused if too many wait", async () => {
    const { ask, begun, codeOf, paths } = openSlow({ timeoutMs: 300_000 });
    const asked = numbers(1, AT_ONCE + WAITING).map((number) => ask(number));
    await waitUntil("some are inside", () => begun.length === AT_ONCE);
    expect(await codeOf(ask(999))).toBe("dashboard.busy");
    expect((await ask(999)).status).toBe(503);
    for (let index = 0; index < asked.length; index += 1) {
      await waitUntil("the next is inside", () => begun.length > index);
      begun[index]?.go();
    }
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(paths()).toEqual(numbers(1, AT_ONCE + WAITING));
  });

  test("are given up when they take too long; those that only waited never reach the database", async () => {
    const { ask, begun, codeOf, paths } = openSlow({ timeoutMs: 5 });
    const asked = numbers(1, AT_ONCE + 3).map((number) => codeOf(ask(number)));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["dashboard.timeout"]));
    expect(await codeOf(ask(100))).toBe("dashboard.timeout"); // what was given up inside keeps its place
    for (const { go } of begun) go();
    const next = ask(200);
    await waitUntil("the next is inside", () => begun.length > AT_ONCE);
    expect(paths()).toEqual([1, 2, 3, 4, 200]);
    begun.at(-1)?.go();
    await next;
  });

  test("leave the queue when their viewer has gone", async () => {
    const { ask, begun, paths } = openSlow({ timeoutMs: 300_000 });
    const inside = numbers(1, AT_ONCE).map((number) => ask(number));
    await waitUntil("some are inside", () => begun.length === AT_ONCE);
    const page = new AbortController();
    const gone = ask(50, { signal: page.signal });
    const stays = ask(60);
    page.abort();
    await gone;
    for (const { go } of begun) go();
    await Promise.all(inside);
    await waitUntil("the next is inside", () => begun.length > AT_ONCE);
    expect(paths()).toEqual([1, 2, 3, 4, 60]);
    begun.at(-1)?.go();
    expect((await stays).status).toBe(200);
  });

  test("that change something are never given up, and don't wait for a place", async () => {
    const { ask, redrive, begun } = openSlow({ timeoutMs: 5, actions: true });
    const inside = numbers(1, AT_ONCE).map((number) => ask(number));
    await waitUntil("some are inside", () => begun.length === AT_ONCE);
    const changed = redrive();
    await waitUntil("it is inside", () => begun.length > AT_ONCE);
    await Promise.all(inside);
    for (const { go } of begun) go();
    expect((await changed).status).toBe(200);
  });
});
