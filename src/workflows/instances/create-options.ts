import type { Labels } from "../define/labels.ts";
import type { RetentionOptions } from "../define/retention.ts";

/** How an instance is created. */
export interface CreateOptions<Params> {
  /** At most 100 letters, digits and `. : _ -`, unique within the workflow. Default: one that is made for it. */
  readonly id?: string;
  readonly params?: Params;
  /** What to do if the workflow has an instance of this id: throw `instance.already_exists` (default), or give that one. */
  readonly onConflict?: "error" | "return";
  /** From -100 to 100: of what waits to start, higher ones start first. What has begun comes before all of them. Default: 0. */
  readonly priority?: number;
  /** How long it is kept when it is finished. What isn't said is as its workflow says, or for ever. */
  readonly retention?: RetentionOptions;
  /** What it can be found by: at most 16 texts under names of your own. */
  readonly labels?: Labels;
  /** Cloudflare's: where in the world an instance should run. Accepted, and of no effect here. */
  readonly locationHint?: string;
}

/** One of a batch: params may be left out where the workflow takes none. */
export type NewInstance<Params> = CreateOptions<Params> & NeededParams<Params>;

/** Asks for params where the workflow takes some. */
export type NeededParams<Params> = undefined extends Params ? unknown : { readonly params: Params };

/** The arguments of `create`. */
export type CreateArguments<Params> = undefined extends Params
  ? [options?: CreateOptions<Params>]
  : [options: NewInstance<Params>];
