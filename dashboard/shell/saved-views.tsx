import { ask } from "./dialogs.tsx";
import { currentView, Link } from "./router.tsx";
import { forgetView, saveView, views } from "./views.ts";

/** Asks for a name, and keeps the present view under it. */
export function saveThisView(): void {
  ask({
    title: "Save this view",
    text: "It is kept in this browser, with its filters.",
    action: "Save",
    fields: (
      <label class="field">
        <span>Name</span>
        <input name="name" required maxLength={60} autocomplete="off" defaultValue={document.title.split(" – ")[0]} />
      </label>
    ),
    act: async (form) => {
      saveView({ name: String(form.get("name")), to: currentView() });
      return "The view is saved.";
    },
  });
}

export function SavedViews() {
  return (
    <section class="views" aria-label="Saved views">
      <header>
        <h2>Saved views</h2>
        <button type="button" class="quiet" onClick={saveThisView} aria-label="Save this view" title="Save this view">
          +
        </button>
      </header>
      <ul>
        {views.value.map(({ name, to }) => (
          <li key={name}>
            <Link to={to}>{name}</Link>
            <button type="button" class="quiet" aria-label={`Forget ${name}`} onClick={() => forgetView(name)}>
              ×
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
