import { absolute, duration, exact, now, relative, short } from "../data/times.ts";

/** A time as people say it, or, if the viewer wants that, as clocks do. The exact time, in their time zone, is its title. */
export function Time({ at, none = "–" }: { readonly at: string | null | undefined; readonly none?: string }) {
  if (at === null || at === undefined) return <span class="faint">{none}</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={absolute(time)}>
      {exact.value ? short(time, now.value) : relative(time, now.value)}
    </time>
  );
}

/** Both forms beside each other, where there is room. */
export function FullTime({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="faint">–</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at}>
      {absolute(time)} <span class="faint">({relative(time, now.value)})</span>
    </time>
  );
}

const ISO = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A sentence of the server, with its times in the viewer's time zone. */
export function WithTimes({ text }: { readonly text: string }) {
  return <>{text.split(ISO).map((part) => (ISO.test(part) ? <FullTime key={part} at={part} /> : part))}</>;
}

/** How long something took, or has taken so far. */
export function Took({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  if (from === null) return <span class="faint">–</span>;
  const end = to === null ? now.value : Date.parse(to);
  return <span class="number">{duration(Math.max(0, end - Date.parse(from)))}</span>;
}
