import type { HookContender } from "./contender.ts";
import { floorPostgres } from "./floor-postgres.ts";
import { floorSqlite } from "./floor-sqlite.ts";
import { graphileWorker, graphileWorkerDefaults } from "./graphile-worker.ts";
import { perdureContender } from "./perdure.ts";
import { pgBoss, pgBossDefaults } from "./pg-boss.ts";

export const CONTENDERS: readonly HookContender[] = [
  perdureContender("sqlite"),
  floorSqlite,
  perdureContender("postgres"),
  graphileWorker,
  graphileWorkerDefaults,
  pgBoss,
  pgBossDefaults,
  floorPostgres,
];
