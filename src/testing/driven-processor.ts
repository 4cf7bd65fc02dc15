import { Processor, type ProcessorTaker } from "../queue/processor.ts";

/** Takes new work only while somebody drives the process: what a test makes due stays, until it says that things may run. */
export class DrivenProcessor extends Processor {
  readonly #isDriven: () => boolean;

  constructor({ sources }: Processor, isDriven: () => boolean) {
    super(sources);
    this.#isDriven = isDriven;
  }

  override join(taker: ProcessorTaker, options: { listens: boolean }): () => void {
    const driven: ProcessorTaker = {
      notice: (notice, store) => this.#isDriven() && taker.notice(notice, store),
      reserve: (...asked) => (this.#isDriven() ? taker.reserve(...asked) : null),
    };
    return super.join(driven, options);
  }
}
