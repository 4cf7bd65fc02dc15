/**
 * Runs once per test run on the template database, before any test clones it. What it creates, every clone has.
 *
 * The template is empty: each engine test migrates its own clone, so that migrations are tested too.
 */
export async function prepareTemplate(_url: string): Promise<void> {}
