import { ensurePage } from "../../scripts/build-page.ts";

/** Tests of the dashboard, and of what mounts it, find its page built. It is built only after a change. */
export default ensurePage;
