/** Lazy packages: each is loaded synchronously at its first use, so that the start does not wait for it. */
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/** Returns a function that loads a package at its first call, and returns its exports. */
export function lazyRequire<Module>(name: string): () => Module {
  let loaded: Module | undefined;
  return () => (loaded ??= load(name) as Module);
}
