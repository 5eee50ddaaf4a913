/** The ark-like vendor: videos as tasks, billed by tokens. */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import type { Artifacts } from "../artifacts.ts";
import type { Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { arkError } from "./errors.ts";
import { createTasks } from "./tasks.ts";

function authorise(headers: IncomingHttpHeaders): void {
  if (isSandboxKey(bearer(headers))) return;
  throw new Refusal(401, {
    message: "The API key in the request is missing or invalid. The sandbox takes `sandbox`.",
  });
}

const tasksPath = "/api/v3/contents/generations/tasks";

export function createArk(artifacts: Artifacts): Vendor {
  const tasks = createTasks(artifacts);
  return {
    name: "ark",
    authorise,
    errorBody: arkError,
    headers: () => ({ "x-request-id": newId("02") }),
    route(method, path) {
      if (path === tasksPath) return method === "POST" ? tasks.create : undefined;
      const id = path.startsWith(`${tasksPath}/`) ? path.slice(tasksPath.length + 1) : "";
      if (!/^[^/]+$/.test(id)) return undefined;
      if (method === "GET") return tasks.poll(id);
      return method === "DELETE" ? tasks.remove(id) : undefined;
    },
  };
}
