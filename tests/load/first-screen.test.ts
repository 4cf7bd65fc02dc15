import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Application, inspect } from "../../src/app/perdure.ts";
import { createHttpHandler, type HttpHandler } from "../../src/http/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { type Watched, watchDatabase } from "./support/asked-questions.ts";
import { FILLED_AT, fillPostgres, fillSqlite, WORKFLOWS } from "./support/many-instances.ts";

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(FILLED_AT - DAY_MS).toISOString();
const TOMORROW = new Date(FILLED_AT + DAY_MS).toISOString();
const LONG_AGO = new Date(FILLED_AT - 100 * DAY_MS).toISOString();
/** Fewer than a page were created since. */
const JUST_NOW = new Date(FILLED_AT - 20_000).toISOString();
const PAGE = 50;

/** What the statements of one question may read, of 1,100,000 instances. A page counts each time that it is looked at. */
const NOTHING = { rows: 0, megabytes: 1 };
const LIST = { rows: 1500, megabytes: 10 };
/** Ten thousand instances are compared, each found by an entry of an index, in twenty rounds. */
const SEARCH = { rows: 150_000, megabytes: 1000 };
/** Entries of lists aren't in the order of time: a page passes some thousands of each status, and then it ends. */
const STRETCH = { rows: 250_000, megabytes: 120 };
/** The rows of labelled instances are read. */
const LABELLED = { rows: 60_000, megabytes: 400 };
/** A hundred thousand are counted by status, and as many by lane. */
const COUNTS = { rows: 210_000, megabytes: 40 };

/**
 * What the dashboard's first screens ask, and Prometheus. The first question about the queue is answered anew, later ones from
 * memory.
 */
const QUESTIONS: readonly [path: string, most: { readonly rows: number; readonly megabytes: number }][] = [
  ["/metrics", COUNTS],
  ["/stats", COUNTS],
  ["/workers", NOTHING],
  ["/workers/unclaimed", LIST],
  ["/instances?status=errored&limit=20", LIST],
  ["/schedules", NOTHING],
  [`/instances?limit=${PAGE}`, LIST],
  [`/instances?limit=${PAGE}&order=oldest`, LIST],
  [`/instances?status=waiting&limit=${PAGE}`, LIST],
  [`/instances?status=waiting&status=errored&limit=${PAGE}`, LIST],
  [`/instances?status=paused&limit=${PAGE}`, LIST],
  [`/instances?createdFrom=${YESTERDAY}&limit=${PAGE}`, STRETCH],
  [`/instances?status=errored&createdFrom=${YESTERDAY}&limit=${PAGE}`, STRETCH],
  [`/instances?createdFrom=${JUST_NOW}&limit=${PAGE}`, STRETCH],
  [`/instances?status=errored&createdFrom=${JUST_NOW}&limit=${PAGE}`, STRETCH],
  [`/instances?createdBefore=${LONG_AGO}&limit=${PAGE}`, STRETCH],
  [`/instances?createdFrom=${TOMORROW}&limit=${PAGE}&order=oldest`, STRETCH],
  [`/instances?finishedFrom=${YESTERDAY}&limit=${PAGE}`, STRETCH],
  [`/instances?finishedFrom=${TOMORROW}&limit=${PAGE}`, STRETCH],
  [`/instances?finishedBefore=${LONG_AGO}&limit=${PAGE}`, STRETCH],
  [`/workflows/checkout/instances?finishedFrom=${TOMORROW}&limit=${PAGE}`, STRETCH],
  [`/instances?label=tenant=tenant-10&limit=${PAGE}`, LIST],
  [`/instances?label=size=any&status=paused&limit=${PAGE}`, LABELLED],
  [`/instances?label=size=any&finishedFrom=${TOMORROW}&limit=${PAGE}`, LABELLED],
  [`/workflows/checkout/instances?limit=${PAGE}`, LIST],
  [`/workflows/checkout/instances?status=complete&limit=${PAGE}`, LIST],
  [`/workflows/checkout/instances?status=errored&createdFrom=${YESTERDAY}&limit=${PAGE}`, LIST],
  [`/instances?idPrefix=order-1099&limit=${PAGE}`, SEARCH],
  [`/instances?idPrefix=order-7&limit=${PAGE}`, SEARCH],
  [`/instances?error=declined&limit=${PAGE}`, SEARCH],
  [`/instances?error=unheard-of&limit=${PAGE}`, SEARCH],
  [`/instances?step=charge&limit=${PAGE}`, SEARCH],
  [`/hooks?limit=${PAGE}`, LIST],
  [`/hooks?status=failed&limit=${PAGE}`, LIST],
];

/** Answered without the database. */
const FROM_MEMORY = ["/activity?minutes=60"];

test("the load test asks all that the dashboard's first screen asks", () => {
  const source = readFileSync(new URL("../../dashboard/screens/overview.tsx", import.meta.url), "utf8");
  const latest = /const LATEST = (\d+);/.exec(source)?.[1] ?? "";
  const asked = Array.from(source.matchAll(/useResource<.*>\(["`](.*?)["`]/g), ([, path = ""]) =>
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is in the source of the page
    path.replace("${LATEST}", latest),
  );
  const known = [...QUESTIONS.map(([path]) => path), ...FROM_MEMORY];

  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter((path) => !known.includes(path))).toEqual([]);
});

describe.each(ENGINES)("with 1,000,000 finished and 100,000 sleeping instances on $dialect", (engine) => {
  let database: TestStore;
  let watched: Watched;
  let app: Application<Record<never, never>, Record<never, never>>;
  let handler: HttpHandler;

  const ask = (path: string) => handler(new Request(`http://app.test${path}`));

  beforeAll(async () => {
    database = await engine.create();
    if (engine.dialect === "sqlite") fillSqlite(database.location);
    else await fillPostgres(database.location);
    watched = await watchDatabase(engine, database);
    app = await inspect({ database: watched.adapter, workflows: {}, logger: new LogBook() });
    handler = createHttpHandler(app, { authorize: () => true });
    await ask("/instances?limit=1"); // reads the schema
  });

  afterAll(async () => {
    await app?.stop();
    await watched?.close();
    await database?.dispose();
  });

  async function checkReads(question: () => Promise<Response>, most: typeof NOTHING): Promise<unknown> {
    let [status, body] = [0, null as unknown];
    const { statements, scans, rows, megabytes } = await watched.watch(async () => {
      const response = await question();
      body = JSON.parse((await response.text()).replace(/^#.*/s, "null"));
      status = response.status;
    });
    expect(status).toBe(200);
    expect(statements).toBeGreaterThan(0);
    expect(scans).toEqual([]);
    expect(rows ?? 0).toBeLessThanOrEqual(most.rows);
    expect(megabytes ?? 0).toBeLessThanOrEqual(most.megabytes);
    return body;
  }

  test.each(QUESTIONS)("%s is answered from parts of indexes", async (path, most) => {
    await checkReads(() => ask(path), most);
  });

  test("a tenant with a hundred thousand instances has its newest counted, and doesn't have all of them read", async () => {
    const authorize = () => ({ allow: true, labels: { size: "any" } });
    const tenant = createHttpHandler(app, { authorize });
    const ofTenant = (path: string) => tenant(new Request(`http://app.test${path}`));
    const { instances } = (await checkReads(() => ofTenant("/stats"), LABELLED)) as {
      instances: { total: Record<string, unknown> };
    };
    const { instances: paused, cursor } = (await checkReads(() => ofTenant("/instances?status=paused"), LABELLED)) as {
      instances: unknown[];
      cursor: string | null;
    };

    expect(Number(instances.total["total"])).toBeGreaterThan(9000);
    expect(instances.total["atLeast"]).toContain("paused");
    expect([paused, typeof cursor]).toEqual([[], "string"]);
    expect((await ofTenant("/stats?exact=true")).status).toBe(403);
  });

  test("counts are exact where they are small, and say where they are lower limits", async () => {
    const { instances } = (await (await ask("/stats")).json()) as {
      instances: { total: Record<string, number>; workflows: Record<string, unknown> };
    };

    expect(Object.keys(instances.workflows).sort()).toEqual([...WORKFLOWS]);
    expect(instances.total).toMatchObject({ errored: 20_000, terminated: 20_000, paused: 0, complete: 30_000 });
    expect(instances.total["atLeast"]).toEqual(["total", "waiting", "complete"]);
  });
});
