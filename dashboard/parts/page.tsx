import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ApiError } from "../data/api.ts";
import type { Resource } from "../data/live.ts";

/** A screen: its heading, what can be done, and its content. */
export function Page(props: {
  readonly title: string;
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const { title, heading = title, actions, children } = props;
  useEffect(() => {
    document.title = `${title} – Perdure`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1>{heading}</h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** What was read, or why it wasn't. The last answer stays on the screen while a new one is read or has failed. */
export function Loaded<Answer>({
  from,
  children,
}: {
  readonly from: Resource<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}) {
  const { data, error } = from;
  return (
    <>
      {error !== null &&
        (data === null && error.status === 404 ? <Missing error={error} /> : <Problem error={error} />)}
      {data !== null ? children(data) : error === null && <Skeleton />}
    </>
  );
}

function Missing({ error }: { readonly error: ApiError }) {
  return (
    <div class="card">
      <Empty title={error.message}>It may have been deleted, or have another name.</Empty>
    </div>
  );
}

function Problem({ error }: { readonly error: ApiError }) {
  return (
    <p class="problem" role="alert">
      {error.message} <span class="faint">({error.code})</span>
    </p>
  );
}

/** What is shown while something is read. */
export function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-busy="true" aria-label="Loading">
      <i />
      <i />
      <i />
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  );
}

export function Card({
  title,
  tools,
  children,
  class: name = "",
}: {
  readonly title?: ComponentChildren;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  return (
    <section class={`card ${name}`}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {tools}
        </header>
      )}
      {children}
    </section>
  );
}

/** Names and what they are. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
