/** Packages that a start need not wait for: each is loaded where it is first used, at once. */
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/** A package as a function that loads it when it is first called, and returns what it exports. */
export function later<Module>(name: string): () => Module {
  let loaded: Module | undefined;
  return () => (loaded ??= load(name) as Module);
}
