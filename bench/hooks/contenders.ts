import { bullMqOnPostgres, bullMqOnRedis, bullMqVariants } from "./bullmq.ts";
import type { HookContender } from "./contender.ts";
import { floorPostgres } from "./floor-postgres.ts";
import { floorSqlite } from "./floor-sqlite.ts";
import { graphileWorker, graphileWorkerDefaults, graphileWorkerVariants } from "./graphile-worker.ts";
import { perdureContender } from "./perdure.ts";
import { pgBoss, pgBossDefaults, pgBossVariants } from "./pg-boss.ts";

const redis = process.env["REDIS_URL"] || undefined;

export const CONTENDERS: readonly HookContender[] = [
  perdureContender("sqlite"),
  floorSqlite,
  perdureContender("postgres"),
  graphileWorker,
  graphileWorkerDefaults,
  pgBoss,
  pgBossDefaults,
  bullMqOnPostgres,
  ...(redis === undefined ? [] : [bullMqOnRedis(redis)]),
  floorPostgres,
];

/** The peers with other settings, for `--sweep`. */
export const VARIANTS: readonly HookContender[] = [
  ...graphileWorkerVariants,
  ...pgBossVariants,
  ...bullMqVariants(redis),
];
