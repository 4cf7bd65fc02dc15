/** Names a step. `index` is 1 for the first call of the name, which is the default, 2 for the second, and so on. */
export interface StepTarget {
  readonly name: string;
  readonly index?: number;
}

/** Changes how an instance runs in a test, as Cloudflare's modifier does. What has run already stays as it was. */
export interface WorkflowInstanceModifier {
  /** Sleeps end at once: all of them, or these. */
  disableSleeps(steps?: readonly StepTarget[]): Promise<void>;
  /** Failed steps are tried again at once: all of them, or these. */
  disableRetryDelays(steps?: readonly StepTarget[]): Promise<void>;
  /** The step's function isn't called: this is its result, after the attempts that are to fail or to time out. */
  mockStepResult(step: StepTarget, result: unknown): Promise<void>;
  /**
   * So many attempts at the step (default: all) fail with this error. Its function isn't called by them. Failures and timeouts that
   * are asked for one after the other follow each other, and what is mocked or written comes after them.
   */
  mockStepError(step: StepTarget, error: Error, times?: number): Promise<void>;
  /** So many attempts at the step (default: all) time out at once; see `mockStepError`. */
  forceStepTimeout(step: StepTarget, times?: number): Promise<void>;
  /** Sends the event as soon as the instance waits for one of this type. */
  mockEvent(event: { readonly type: string; readonly payload?: unknown }): Promise<void>;
  /** The wait times out at once, whatever was sent. */
  forceEventTimeout(step: StepTarget): Promise<void>;
}
