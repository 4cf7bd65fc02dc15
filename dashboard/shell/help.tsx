import { Modal } from "./dialogs.tsx";
import { overlay, PALETTE_KEY } from "./keys.ts";
import { SCREENS } from "./screens.ts";

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  [PALETTE_KEY, "commands and search"],
  ["/", "the first filter of this screen"],
  ["?", "this help"],
  ["p", "pause and resume live updates"],
  ["t", "times of day, or how long ago"],
  ["↑ ↓", "move between the steps of a waterfall"],
  ["Enter", "show or hide the steps of a child"],
  ["+ − 0", "zoom a waterfall, and show all of it"],
  ["← →", "move a zoomed waterfall"],
  ["Esc", "close what is open, or leave a field"],
];

export function Help() {
  const screens = SCREENS.map(({ keys, name }) => [keys, `go to ${name}`] as const);
  return (
    <Modal label="Keyboard shortcuts" onClose={() => (overlay.value = null)}>
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {[...KEYS, ...screens].map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" class="button primary" onClick={() => (overlay.value = null)}>
          Close
        </button>
      </div>
    </Modal>
  );
}
