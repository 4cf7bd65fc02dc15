/** Of the instances whose code runs in this isolate. */
const notes = new Map<string, string[]>();
const opened = new Set<string>();
const POLL_MS = 10;

/** What a program shares with who drives it. */
export interface World {
  /** Tells that something happens, as often as it happens. */
  note(text: string): void;
  /** Waits until the driver opens it. By asking again: in workerd a call can't wait for what another call does. */
  gate(name: string): Promise<void>;
}

export function worldOf(id: string): World {
  return {
    note: (text) => void notes.set(id, [...notesOf(id), text]),
    gate: async (name) => {
      while (!opened.has(`${id} ${name}`)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    },
  };
}

export function notesOf(id: string): readonly string[] {
  return notes.get(id) ?? [];
}

export function openGate(id: string, name: string): void {
  opened.add(`${id} ${name}`);
}
