/** The dashscope-like vendor: everything is a task. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Artifacts } from "../artifacts.ts";
import type { Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { dashscopeError } from "./errors.ts";
import { imageGeneration } from "./images.ts";
import { createTasks } from "./tasks.ts";
import { textToImage } from "./text-to-image.ts";
import { videoSynthesis } from "./videos.ts";

function authorise(headers: IncomingHttpHeaders): void {
  if (isSandboxKey(bearer(headers))) return;
  throw new Refusal(401, { message: "Invalid API-key provided. The sandbox takes `sandbox`." });
}

const servicesPath = "/api/v1/services/aigc/";

export function createDashscope(artifacts: Artifacts): Vendor {
  const tasks = createTasks();
  const services = new Map([
    ["video-generation/video-synthesis", videoSynthesis(tasks, artifacts, "video-generation")],
    ["image2video/video-synthesis", videoSynthesis(tasks, artifacts, "image2video")],
    ["image-generation/generation", imageGeneration(tasks, artifacts)],
    ["text2image/image-synthesis", textToImage(tasks, artifacts)],
  ]);
  return {
    name: "dashscope",
    authorise,
    errorBody: dashscopeError,
    headers: () => ({ "x-request-id": randomUUID() }),
    route(method, path) {
      if (method === "POST" && path.startsWith(servicesPath)) {
        return services.get(path.slice(servicesPath.length));
      }
      const [, id, ending] = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
      if (id === undefined) return undefined;
      if (method === "GET" && ending === undefined) return tasks.poll(id);
      return method === "POST" && ending !== undefined ? tasks.cancel(id) : undefined;
    },
  };
}
