const WORDS: Readonly<Record<string, string>> = {
  waitingForPause: "pausing",
  rollingBack: "rolling back",
  errored: "failed",
  failed: "failed",
  timedOut: "timed out",
  rolledBack: "rolled back",
  rollbackFailed: "rollback failed",
  processing: "running",
};

/** The few kinds that have a colour of their own. */
const TONES: Readonly<Record<string, string>> = {
  running: "active",
  processing: "active",
  leased: "active",
  rollingBack: "undo",
  rolledBack: "undo",
  waiting: "waits",
  pending: "waits",
  scheduled: "waits",
  retrying: "warns",
  waitingForPause: "warns",
  paused: "warns",
  timedOut: "warns",
  diverged: "warns",
  complete: "good",
  completed: "good",
  alive: "good",
  errored: "bad",
  failed: "bad",
  dead: "bad",
  rollbackFailed: "bad",
};

export function wordOf(status: string): string {
  return WORDS[status] ?? status;
}

export function toneOf(status: string): string {
  return TONES[status] ?? "calm";
}

/** A status in a word and a colour, so that neither is needed alone. */
export function Status({ of }: { readonly of: string }) {
  return (
    <span class={`status tone-${toneOf(of)}`}>
      <i aria-hidden="true" />
      {wordOf(of)}
    </span>
  );
}
