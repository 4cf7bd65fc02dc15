import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { PrismaPg } from "@prisma/adapter-pg";
import { DataSource, type EntityManager as TypeOrmManager } from "typeorm";
import { fromMikroOrm, fromPrisma, fromTypeOrm } from "../../../src/index.ts";
import { type Isolation, type Library, type OwnTransaction, withSavepoints } from "./own-transaction.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const typeOrm: Library = {
  name: "TypeORM",
  open: async (url, { connections: poolSize = 10 } = {}) => {
    const source = await new DataSource({ type: "postgres", url, poolSize }).initialize();
    const wrap = (manager: TypeOrmManager): OwnTransaction => ({
      transaction: fromTypeOrm(manager),
      query: (text) => manager.query(text),
      savepoint: (body) => manager.transaction((inner) => body(wrap(inner))),
    });
    return {
      transact: (body, isolation = "read committed") =>
        source.transaction(isolation.toUpperCase() as Uppercase<Isolation>, (manager) => body(wrap(manager))),
      wrapClient: () => fromTypeOrm(source.manager),
      close: () => source.destroy(),
    };
  },
};

const mikroOrm: Library = {
  name: "MikroORM",
  open: async (clientUrl, { connections: max = 10 } = {}) => {
    const orm = await MikroORM.init({
      clientUrl,
      pool: { max },
      entities: [],
      discovery: { warnWhenNoEntities: false },
    });
    const wrap = (em: EntityManager): OwnTransaction => ({
      transaction: fromMikroOrm(em),
      query: (text) => em.execute(text),
      savepoint: (body) => em.transactional((inner) => body(wrap(inner as EntityManager))),
    });
    return {
      transact: (body, isolation = "read committed") =>
        orm.em.fork().transactional((em) => body(wrap(em as EntityManager)), { isolationLevel: isolation as never }),
      wrapClient: () => fromMikroOrm(orm.em.fork()),
      close: () => orm.close(),
    };
  },
};

/** Of the client that Prisma generates. */
interface PrismaClient extends PrismaTransaction {
  $transaction<Result>(
    body: (tx: PrismaTransaction) => Promise<Result>,
    options: { isolationLevel: string; timeout: number },
  ): Promise<Result>;
  $disconnect(): Promise<void>;
}

interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...parameters: unknown[]): Promise<unknown>;
  $executeRawUnsafe(text: string): Promise<unknown>;
}

const PRISMA_LEVELS: Record<Isolation, string> = {
  "read committed": "ReadCommitted",
  "repeatable read": "RepeatableRead",
  serializable: "Serializable",
};

const prisma: Library = {
  name: "Prisma",
  open: async (connectionString, { connections: max = 10 } = {}) => {
    const PrismaClientClass = await generatedPrisma();
    const client = new PrismaClientClass({ adapter: new PrismaPg({ connectionString, max }) });
    return {
      transact: (body, isolation = "read committed") =>
        client.$transaction(
          (tx) => body(withSavepoints({ transaction: fromPrisma(tx), query: (text) => tx.$executeRawUnsafe(text) })),
          { isolationLevel: PRISMA_LEVELS[isolation], timeout: 60_000 },
        ),
      wrapClient: () => fromPrisma(client),
      close: () => client.$disconnect(),
    };
  },
};

type PrismaClientClass = new (options: { adapter: PrismaPg }) => PrismaClient;

let generated: Promise<string> | undefined;

/** The folder of the client that Prisma has generated for these tests. */
function generatedPrismaFolder(): Promise<string> {
  generated ??= generatePrisma();
  return generated;
}

async function generatedPrisma(): Promise<PrismaClientClass> {
  const load = createRequire(import.meta.url);
  return (load(await generatedPrismaFolder()) as { PrismaClient: PrismaClientClass }).PrismaClient;
}

const PRISMA_SCHEMA = `generator client {
  provider = "prisma-client-js"
  output   = "./client"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id String @id
  @@map("orders")
}
model Booking {
  seat String @id
  @@map("bookings")
}
`;

/** Below the package, where the client finds its runtime. */
let directory: string | undefined;

/** The schema engine would be downloaded, and isn't needed. */
async function generatePrisma(): Promise<string> {
  directory = await mkdtemp(join(root, "tests/transactions/prisma-"));
  const schema = join(directory, "schema.prisma");
  await writeFile(schema, PRISMA_SCHEMA);
  const command = join(root, "node_modules/prisma/build/index.js");
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  await promisify(execFile)(process.execPath, [command, "generate", "--schema", schema], { env, cwd: directory });
  return join(directory, "client");
}

/** Lets samples in a directory find what Prisma generates where they expect it. */
export async function linkGeneratedPrisma(directory: string): Promise<void> {
  const target = join(directory, "generated/prisma");
  await mkdir(target, { recursive: true });
  const load = `createRequire(import.meta.url)(${JSON.stringify(await generatedPrismaFolder())})`;
  const text = `import { createRequire } from "node:module";\nexport const { PrismaClient } = ${load};\n`;
  await writeFile(join(target, "client.js"), text);
}

/** After the last test: the client loads parts of itself late. */
export async function removeGeneratedPrisma(): Promise<void> {
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
}

export const MAPPERS: readonly Library[] = [typeOrm, mikroOrm, prisma];
