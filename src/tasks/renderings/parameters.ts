/**
 * What a task was asked for, without what was written or shown to it: texts and pictures of callers are kept for the work, not
 * to be read by others.
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

/** The parameters by name; of what is left out, nothing. */
export const renderParameters = (request: MediaRequest): object =>
  snakeCased(Object.fromEntries(Object.entries(request).filter(([name]) => !content.has(name))));
