import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { readEvents } from "./support/read-events.ts";

const program = fileURLToPath(new URL("./support/slow-readers-program.ts", import.meta.url));
const HEAP_MEGABYTES = 96;
const READERS = 24;
/** So many unread results of 0.9 MB fit into the 8 MiB that the program allows, with the connection that asks. */
const MOST_LEFT = 12;
const PATH = "/workflows/large/instances/one";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

describe.each(ENGINES.filter(({ name }) => name === "node:sqlite" || name === "postgres"))(
  "readers that take nothing, on $name,",
  (engine) => {
    async function serve(database: TestStore): Promise<{ port: number; exited: () => boolean }> {
      const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEGABYTES}`, program, database.location], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      cleanUp.push(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      });
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      return { port: Number(line.toString()), exited: () => child.exitCode !== null || child.signalCode !== null };
    }

    /** Resolves when the first step was told. From then on it takes nothing until it is resumed. */
    async function openIdle(port: number): Promise<{ socket: Socket; text: () => string }> {
      const socket = connect(port, "127.0.0.1");
      cleanUp.push(() => socket.destroy());
      let text = "";
      socket.on("error", () => {});
      socket.write(`GET ${PATH}/subscribe HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      await new Promise<void>((resolve) => {
        socket.on("data", (data) => {
          text += data.toString("latin1");
          if (!text.includes("event: step_started")) return;
          socket.removeAllListeners("data").pause();
          resolve();
        });
      });
      return { socket, text: () => text };
    }

    test("are cut off before they fill the memory of the process, and come back with their cursors", async () => {
      const database = await engine.create();
      cleanUp.push(() => database.dispose());
      const { port, exited } = await serve(database);
      const read = async (headers: Record<string, string> = {}) =>
        Array.fromAsync(readEvents(await fetch(`http://127.0.0.1:${port}${PATH}/subscribe`, { headers })));
      const all = (await read()).map(({ id }) => id);

      const readers = await Promise.all(Array.from({ length: READERS }, () => openIdle(port)));
      await waitUntil("most readers are cut off", async () => {
        if (exited()) throw new Error("The process died.");
        return Number(await (await fetch(`http://127.0.0.1:${port}/connections`)).text()) <= MOST_LEFT;
      });

      expect((await fetch(`http://127.0.0.1:${port}${PATH}`)).status).toBe(200);
      const [seen] = readers.map(({ text }) => text().match(/(?<=^id: )\d+(?=\n)/gm) ?? []);
      const last = seen?.at(-1) as string;
      const rest = await read({ "last-event-id": last });
      expect([...all.slice(0, all.indexOf(last) + 1), ...rest.map(({ id }) => id)]).toEqual(all);
      expect(rest.at(-1)?.type).toBe("workflow_completed");
    });
  },
);
