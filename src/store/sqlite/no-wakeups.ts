import type { Wakeups } from "../engine.ts";

/** For a database that no other process can reach: nobody needs to be told, and nothing is missed. */
export const noWakeups: Wakeups & { close(): void } = {
  connected: true,
  subscribe: () => () => {},
  announce: () => {},
  close: () => {},
};
