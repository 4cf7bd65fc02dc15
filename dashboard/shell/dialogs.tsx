import { type ReadonlySignal, signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { refresh } from "../data/live.ts";

interface Question {
  readonly title: string;
  readonly text?: ComponentChildren;
  /** What the button says that does it. */
  readonly action: string;
  /** Whether that can't be undone; a signal, where it depends on the fields. */
  readonly danger?: boolean | ReadonlySignal<boolean>;
  /** The fields of a form. */
  readonly fields?: ComponentChildren;
  readonly act: (form: FormData) => Promise<string | undefined>;
}

const question = signal<Question | null>(null);

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly failed: boolean;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS = 6000;
let last = 0;

export function say(text: string, { failed = false }: { readonly failed?: boolean } = {}): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.slice(-2), { id, text, failed }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

/** Asks before it acts: nothing destructive happens with one click. */
export function ask(what: Question): void {
  question.value = what;
}

/** Acts at once, for what does no harm. */
export async function perform(done: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
    say(done);
  } catch (error) {
    say(messageOf(error), { failed: true });
  }
  refresh();
}

export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error);
}

export function Dialogs() {
  return (
    <>
      {question.value !== null && <QuestionDialog question={question.value} />}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map(({ id, text, failed }) => (
          <p key={id} class={failed ? "toast failed" : "toast"}>
            {text}
          </p>
        ))}
      </div>
    </>
  );
}

function QuestionDialog({ question: { title, text, action, danger, fields, act } }: { readonly question: Question }) {
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const dangerous = typeof danger === "object" ? danger.value : danger;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    problem.value = null;
    try {
      const done = await act(new FormData(event.target as HTMLFormElement));
      question.value = null;
      if (done !== undefined) say(done);
      refresh();
    } catch (error) {
      problem.value = messageOf(error);
    }
    busy.value = false;
  };
  return (
    <Modal label={title} onClose={() => (question.value = null)}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{title}</h2>
        {text !== undefined && <div class="muted">{text}</div>}
        {fields}
        {problem.value !== null && (
          <p class="problem" role="alert">
            {problem.value}
          </p>
        )}
        <div class="buttons">
          <button type="button" class="button" onClick={() => (question.value = null)}>
            Cancel
          </button>
          <button type="submit" class={dangerous ? "button danger" : "button primary"} disabled={busy.value}>
            {action}
          </button>
        </div>
      </form>
    </Modal>
  );
}

interface ModalProps {
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** The browser keeps the focus inside, closes it with Escape, and gives the focus back. */
export function Modal({ label, children, onClose, class: name = "" }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      gone.current = true;
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      ref={dialog}
      class={`modal ${name}`}
      aria-label={label}
      onClose={() => {
        if (!gone.current) onClose(); // the browser tells it late: another dialog may be in its place
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
