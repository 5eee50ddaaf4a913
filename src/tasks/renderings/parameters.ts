/**
 * What a task was asked for, without what was written or shown to it: texts and pictures of callers are kept for the work, not
 * to be read by others.
 */
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

/** `durationSeconds` as `duration_seconds`. */
const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The parameters by name; of what is left out, nothing. */
export const renderParameters = (request: MediaRequest): object =>
  Object.fromEntries(
    Object.entries(request)
      .filter(([name]) => !content.has(name))
      .map(([name, value]) => [snakeCase(name), value]),
  );
