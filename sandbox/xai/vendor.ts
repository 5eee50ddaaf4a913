/** The xai-like vendor: videos as tasks, pictures at once. */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import type { Artifacts } from "../artifacts.ts";
import type { Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { xaiError } from "./errors.ts";
import { createImages } from "./images.ts";
import { createVideos } from "./videos.ts";

/** A wrong key is 400 here, and only a missing one is 401. */
function authorise(headers: IncomingHttpHeaders): void {
  const key = bearer(headers);
  if (isSandboxKey(key)) return;
  if (key === undefined) {
    throw new Refusal(401, { message: "No API key: send `Authorization: Bearer sandbox`." });
  }
  throw new Refusal(400, {
    message: "Incorrect API key provided. The sandbox takes the key `sandbox`.",
  });
}

export function createXai(artifacts: Artifacts): Vendor {
  const videos = createVideos(artifacts);
  const images = createImages(artifacts);
  return {
    name: "xai",
    authorise,
    errorBody: xaiError,
    headers: () => ({ "x-request-id": newId("req") }),
    route(method, path) {
      switch (`${method} ${path}`) {
        case "POST /v1/videos/generations":
          return videos.submit;
        case "POST /v1/images/generations":
          return images.generations;
        case "POST /v1/images/edits":
          return images.edits;
      }
      const [, id] = /^\/v1\/videos\/([^/]+)$/.exec(path) ?? [];
      return method === "GET" && id !== undefined ? videos.poll(id) : undefined;
    },
  };
}
