/** Properties of a request besides its fields: the addresses of its material, and its time limit. */
import { families } from "./families/index.ts";
import type { MediaRequest } from "./types.ts";

/**
 * Every address that a caller gave, for the address guard; pictures inside the request (`data:`) have none. `param` is the dedicated
 * field, whichever spelling the caller used (VID-14, T77).
 */
export function mediaAddresses(request: MediaRequest): { param: string; url: string }[] {
  if (request.kind === "image") return [];
  const { firstFrame, lastFrame, references } = request;
  const pieces = [
    { param: "image.url", url: firstFrame },
    { param: "last_frame.url", url: lastFrame },
    ...references.map((url, index) => ({ param: `reference_images[${index}].url`, url })),
  ];
  return pieces.flatMap(({ param, url }) =>
    typeof url !== "string" || /^data:/i.test(url) ? [] : [{ param, url }],
  );
}

/** Seconds after which a task expires. docs/decisions.md "Expiry". */
export function expirySeconds(request: MediaRequest): number {
  const own = request.kind === "video" ? request.expiresAfterSeconds : undefined;
  return own ?? families[request.family].expirySeconds;
}
