/** What one check of `perdure doctor` has found. */
export interface Finding {
  readonly check: string;
  /** `warning` deserves a look; `failed` keeps work from being done. */
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do next. */
  readonly next?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, state: "ok", message };
}

export function warning(check: string, message: string, next: string): Finding {
  return { check, state: "warning", message, next };
}

export function failed(check: string, message: string, next: string): Finding {
  return { check, state: "failed", message, next };
}
