/** The type that a caller prefers, of those that can be served. The first one if it prefers none, or none of these. */
export function chooseMediaType<Type extends string>(accept: string | null, served: readonly [Type, ...Type[]]): Type {
  const wishes = (accept ?? "").split(",").map(toWish);
  let chosen = served[0];
  let most = 0;
  for (const type of served) {
    const weight = weightOf(type, wishes);
    if (weight <= most) continue;
    chosen = type;
    most = weight;
  }
  return chosen;
}

interface Wish {
  readonly range: string;
  readonly weight: number;
}

function toWish(text: string): Wish {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const weight = quality === undefined ? 1 : Number(quality);
  return { range, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}

/** The most specific range that has the type decides. */
function weightOf(type: string, wishes: readonly Wish[]): number {
  const ranges = [type, `${type.split("/")[0]}/*`, "*/*"];
  for (const range of ranges) {
    const wish = wishes.find((one) => one.range === range);
    if (wish !== undefined) return wish.weight;
  }
  return 0;
}
