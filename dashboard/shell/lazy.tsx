import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { Empty, Skeleton } from "../parts/page.tsx";

/** A screen whose script is loaded when it is opened for the first time, so that the page itself comes quickly. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null);
  const failed = signal(false);
  let begun = false;
  const begin = () => {
    begun = true;
    load().then(
      (screen) => (loaded.value = screen),
      () => (failed.value = true),
    );
  };
  return function Lazy(props: Props) {
    if (!begun) begin();
    const Screen = loaded.value;
    if (Screen !== null) return <Screen {...props} />;
    return failed.value ? <Outdated /> : <Skeleton />;
  };
}

/** The server has other files now, or can't be reached. */
function Outdated() {
  return (
    <Empty title="This screen can't be loaded">
      The server was updated, or can't be reached.{" "}
      <button type="button" class="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </Empty>
  );
}
