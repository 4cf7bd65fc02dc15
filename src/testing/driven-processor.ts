import { Processor } from "../queue/processor.ts";
import type { WorkTaker } from "../store/work-board.ts";

/** Takes new work only while somebody drives the process: what a test makes due stays, until it says that things may run. */
export class DrivenProcessor extends Processor {
  readonly #isDriven: () => boolean;

  constructor({ sources }: Processor, isDriven: () => boolean) {
    super(sources);
    this.#isDriven = isDriven;
  }

  override join(taker: WorkTaker, options: { listens: boolean }): () => void {
    const driven: WorkTaker = {
      notice: (notice) => this.#isDriven() && taker.notice(notice),
      reserve: (kind, namespace, name) => (this.#isDriven() ? taker.reserve(kind, namespace, name) : null),
    };
    return super.join(driven, options);
  }
}
