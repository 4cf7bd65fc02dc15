/** The built page: `npm run build` makes it from `dashboard/`, and `package.json` says where it is. */
declare module "#dashboard-page" {
  /** By name, such as `main-C0ffee.js`. */
  export const files: Readonly<Record<string, string>>;
  /** The names of the script and the style sheets that the page begins with. */
  export const script: string;
  export const styles: readonly string[];
}
