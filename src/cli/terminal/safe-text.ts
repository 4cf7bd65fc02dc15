/**
 * Names, ids, errors and values come from users and their data. Control characters in them could move the cursor, change the
 * title of the terminal or hide text, so they are shown as escapes.
 */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, (character) => {
    const code = character.codePointAt(0) as number;
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The same for text of several lines, such as a stack. */
export function safeLines(text: string): string {
  return text.split("\n").map(safeText).join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about; the rest turns the direction of text
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Columns that a text takes: wide characters take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Cuts a text to so many columns, and marks that it was cut. */
export function cutTo(text: string, columns: number, mark: string): string {
  if (columns <= 0) return "";
  if (widthOf(text) <= columns) return text;
  let [kept, width] = ["", 0];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}${mark}`;
}
