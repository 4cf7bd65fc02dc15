/**
 * Imports a peer by name. Peers are installed for the benchmark only, so the rest of the repository type-checks without them:
 * each contender declares the little that it uses.
 */
export async function loadPeer<Module>(name: string): Promise<Module> {
  try {
    return (await import(name)) as Module;
  } catch (cause) {
    throw new Error(`${name} can't be imported; try: npm ci --prefix bench`, { cause });
  }
}
