import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { path, query } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { paused } from "../data/streams.ts";
import { exact, toggleExact } from "../data/times.ts";
import type { Instance, Statistics } from "../data/types.ts";
import { Modal } from "./dialogs.tsx";
import { overlay } from "./keys.ts";
import { open } from "./router.tsx";
import { saveThisView } from "./saved-views.tsx";
import { SCREENS } from "./screens.ts";
import { nextTheme } from "./theme.ts";
import { views } from "./views.ts";

interface Command {
  readonly name: string;
  readonly kind: string;
  readonly run: () => void;
}

const MOST_SHOWN = 12;
const MOST_FOUND = 6;

/** Everything by its name: screens, workflows, instances by the beginning of their ids, and what the page can do. */
export function Palette() {
  const typed = useSignal("");
  const chosen = useSignal(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const commands = useCommands(typed.value.trim());
  const selected = Math.min(chosen.value, commands.length - 1);
  const close = () => {
    overlay.value = null;
  };
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(commands[selected]);
    else if (step !== undefined) chosen.value = (selected + step + commands.length) % Math.max(commands.length, 1);
    else return;
    event.preventDefault();
  };
  return (
    <Modal label="Commands" class="palette" onClose={close}>
      <input
        ref={input}
        role="combobox"
        aria-label="Search for a screen, a workflow, an instance or a command"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length === 0 ? undefined : `${id}-${selected}`}
        aria-autocomplete="list"
        placeholder="Search, or type an id"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          <div
            key={`${command.kind} ${command.name}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => run(command)}
          >
            <span>{command.name}</span>
            <small>{command.kind}</small>
          </div>
        ))}
      </div>
      {commands.length === 0 && <p class="muted nothing">Nothing has this name.</p>}
    </Modal>
  );
}

function useCommands(text: string): Command[] {
  const { data: statistics } = useResource<Statistics>("/stats");
  const found = useResource<{ instances: Instance[] }>(
    text.length < 2 ? null : `/instances${query({ idPrefix: text, limit: MOST_FOUND })}`,
  );
  const workflows = Object.keys(statistics?.instances?.workflows ?? {});
  const fixed: Command[] = [
    ...SCREENS.map(({ name, to }) => ({ name, kind: "screen", run: () => open(to) })),
    ...views.value.map(({ name, to }) => ({ name, kind: "saved view", run: () => open(to) })),
    ...workflows.map((name) => ({ name, kind: "workflow", run: () => open(`/workflows${query({ workflow: name })}`) })),
    { name: "Failed instances", kind: "filter", run: () => open("/workflows?status=errored") },
    { name: "Dead letters", kind: "filter", run: () => open("/hooks?status=failed") },
    {
      name: paused.value ? "Resume live updates" : "Pause live updates",
      kind: "command",
      run: () => (paused.value = !paused.value),
    },
    {
      name: exact.value ? "Show how long ago things were" : "Show times of day",
      kind: "command",
      run: toggleExact,
    },
    { name: "Save this view", kind: "command", run: saveThisView },
    { name: "Switch between light and dark", kind: "command", run: nextTheme },
    { name: "Keyboard shortcuts", kind: "command", run: () => (overlay.value = "help") },
  ];
  const wanted = text.toLowerCase();
  const instances = (text.length < 2 ? [] : (found.data?.instances ?? [])).map(({ id, workflowName }) => ({
    name: id,
    kind: workflowName,
    run: () => open(`/workflows${path(workflowName, id)}`),
  }));
  return [...fixed.filter(({ name }) => name.toLowerCase().includes(wanted)), ...instances].slice(0, MOST_SHOWN);
}
