/**
 * The parameters of a task without its texts and pictures: these are kept for the work, and others must
 * not read them.
 */
import { snakeCased } from "../../base/casing.ts";
import type { MediaRequest } from "../../media/index.ts";

const content = new Set([
  "kind",
  "family",
  "prompt",
  "negativePrompt",
  "images",
  "mask",
  "firstFrame",
  "lastFrame",
  "references",
  "user",
]);

/** The parameters by name, without the ones that hold content. */
export const renderParameters = (request: MediaRequest): object =>
  snakeCased(Object.fromEntries(Object.entries(request).filter(([name]) => !content.has(name))));
