/** Vite turns these imports into files of the page. */
declare module "*.css";
