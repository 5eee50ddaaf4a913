/** The dashscope-like vendor: everything is a task. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Artifacts } from "../artifacts.ts";
import type { Vendor } from "../vendor.ts";
import { bearer, isSandboxKey, Refusal } from "../vendor.ts";
import { dashscopeError } from "./errors.ts";
import { createTasks } from "./tasks.ts";
import { videoSynthesis } from "./videos.ts";

function authorise(headers: IncomingHttpHeaders): void {
  if (isSandboxKey(bearer(headers))) return;
  throw new Refusal(401, { message: "Invalid API-key provided. The sandbox takes `sandbox`." });
}

export function createDashscope(artifacts: Artifacts): Vendor {
  const tasks = createTasks();
  const videos = videoSynthesis(tasks, artifacts);
  return {
    name: "dashscope",
    authorise,
    errorBody: dashscopeError,
    headers: () => ({ "x-request-id": randomUUID() }),
    route(method, path) {
      if (`${method} ${path}` === "POST /api/v1/services/aigc/video-generation/video-synthesis") {
        return videos;
      }
      const [, id, ending] = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
      if (id === undefined) return undefined;
      if (method === "GET" && ending === undefined) return tasks.poll(id);
      return method === "POST" && ending !== undefined ? tasks.cancel(id) : undefined;
    },
  };
}
