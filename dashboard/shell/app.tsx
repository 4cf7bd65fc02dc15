import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { session, signedOut } from "../data/api.ts";
import { connected } from "../data/live.ts";
import { paused } from "../data/streams.ts";
import { exact, toggleExact } from "../data/times.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Page } from "../parts/page.tsx";
import { Overview } from "../screens/overview.tsx";
import { Dialogs, messageOf } from "./dialogs.tsx";
import { Help } from "./help.tsx";
import { overlay, PALETTE_KEY } from "./keys.ts";
import { lazy } from "./lazy.tsx";
import { Palette } from "./palette.tsx";
import { Link, route } from "./router.tsx";
import { SavedViews } from "./saved-views.tsx";
import { SCREENS } from "./screens.ts";
import { nextTheme, theme } from "./theme.ts";

const InstancePage = lazy(async () => (await import("../instance/instance-page.tsx")).InstancePage);
const WorkflowsPage = lazy(async () => (await import("../screens/workflows.tsx")).WorkflowsPage);
const HooksPage = lazy(async () => (await import("../screens/hooks.tsx")).HooksPage);
const HookPage = lazy(async () => (await import("../screens/hooks.tsx")).HookPage);
const SubjectsPage = lazy(async () => (await import("../screens/subjects.tsx")).SubjectsPage);
const SchedulesPage = lazy(async () => (await import("../screens/schedules.tsx")).SchedulesPage);
const LinesPage = lazy(async () => (await import("../screens/lines.tsx")).LinesPage);
const WorkersPage = lazy(async () => (await import("../screens/workers.tsx")).WorkersPage);

const refused = signal<string | null>(null);

/** The server didn't let the caller in. */
export function refuseSession(error: unknown): void {
  refused.value = messageOf(error);
}

export function App() {
  if (refused.value !== null) {
    return (
      <main class="refused">
        <Empty title="The dashboard can't be opened">{refused.value}</Empty>
      </main>
    );
  }
  if (session.value === null) return <main aria-busy="true" />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar />
      <main id="main" tabIndex={-1}>
        {signedOut.value !== null && <SignedOut reason={signedOut.value} />}
        <Screen />
      </main>
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "help" && <Help />}
      <Dialogs />
    </>
  );
}

/** What is on the screen stays there, but nothing new comes and nothing can be done. */
function SignedOut({ reason }: { readonly reason: string }) {
  return (
    <div class="problem signed-out" role="alert">
      <p>
        <strong>You are signed out.</strong> {reason} What you see is from before.
      </p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Sign in again
      </button>
    </div>
  );
}

function Screen() {
  const [part, first, second] = route.value;
  if (part === undefined) return <Overview />;
  if (part === "workflows" && first !== undefined && second !== undefined) {
    return <InstancePage key={`${first}/${second}`} workflowName={first} id={second} />;
  }
  if (part === "workflows" && first === undefined) return <WorkflowsPage />;
  if (part === "hooks") return first === undefined ? <HooksPage /> : <HookPage key={first} id={first} />;
  if (part === "subjects") return <SubjectsPage dispatcher={first} />;
  if (part === "schedules") return <SchedulesPage />;
  if (part === "lines") return <LinesPage />;
  if (part === "workers") return <WorkersPage />;
  return (
    <Page title="Not found">
      <Empty title="There is no such view">
        <Link to="/">Go to the overview</Link>
      </Empty>
    </Page>
  );
}

function Sidebar() {
  const screens = useRef<HTMLElement>(null);
  const part = route.value[0];
  useEffect(() => {
    const { current: nav } = screens;
    const link = nav?.querySelector<HTMLElement>("[aria-current]");
    if (nav && link) nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.clientWidth) / 2; // it scrolls on phones
  }, [part]);
  return (
    <aside class="sidebar">
      <Link to="/" class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M9 10h9M9 16h14M9 22h6" />
        </svg>
        Perdure
      </Link>
      <button type="button" class="find" onClick={() => (overlay.value = "palette")}>
        <span>Search</span>
        <kbd>{PALETTE_KEY}</kbd>
      </button>
      <nav ref={screens} aria-label="Screens">
        {SCREENS.map(({ name, to, part: own, icon }) => (
          <Link key={to} to={to} class="screen" aria-current={part === own ? "page" : undefined}>
            <Icon path={icon} />
            {name}
          </Link>
        ))}
      </nav>
      <SavedViews />
      <div class="settings">
        <LiveSwitch />
        <button
          type="button"
          class="quiet times"
          onClick={toggleExact}
          title="Times of day, or how long ago (t)"
          aria-label={exact.value ? "Times of day: show how long ago" : "How long ago: show times of day"}
        >
          <Icon path="M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.8V8l2.3 1.6" />
          <span>{exact.value ? "Times of day" : "How long ago"}</span>
        </button>
        <button type="button" class="quiet" onClick={nextTheme}>
          <Icon path="M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12M10.5 5v6" />
          Theme: {theme.value}
        </button>
        <button type="button" class="quiet" onClick={() => (overlay.value = "help")}>
          <Icon path="M1.5 4.5h13v7h-13zM5 9.5h6M4.4 7h.01M6.8 7h.01M9.2 7h.01M11.6 7h.01" />
          Shortcuts <kbd>?</kbd>
        </button>
      </div>
    </aside>
  );
}

function LiveSwitch() {
  const state = paused.value ? "paused" : connected.value ? "live" : "offline";
  const words = { paused: "Paused", live: "Live", offline: "Connecting …" };
  return (
    <button
      type="button"
      class={`live ${state}`}
      role="switch"
      aria-checked={!paused.value}
      aria-label="Live updates"
      title={paused.value ? "Resume live updates (p)" : "Pause live updates (p)"}
      onClick={() => (paused.value = !paused.value)}
    >
      <i aria-hidden="true" />
      {words[state]}
    </button>
  );
}
