/** The kept bodies of a call, if its workspace keeps them, over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { getRequestBody, visibilityOf } from "../../admin/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { words } from "./schemas.ts";

const text = (description: string) => orNull(Type.String({ description }));

export const requestBody = route({
  method: "GET",
  path: "/requests/{id}/body",
  operationId: "getRequestBody",
  summary: "The texts of a request, word for word",
  action: "request.read",
  description:
    "The caller's request, the request to the provider and the answer. Stored for text and embedding calls if the workspace has `keep_bodies`, up to 256 kB each, without headers. Keys are masked. 404 if nothing is stored, or no longer.",
  answer: {
    name: "RequestBody",
    schema: Type.Object({
      request: text("The caller's request."),
      sent: text("The request to the last provider; null: none was asked."),
      answer: text("The answer to the caller; for a stream, its events. null: nothing was sent."),
      truncated: Type.Array(words("request", "sent", "answer"), {
        description: "The names of the cut texts.",
      }),
      kept_until: timestamp("When it will be deleted, by the workspace's current settings."),
    }),
  },
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    await Promise.all([services.logWritten(), services.bodiesWritten()]);
    const visibility = visibilityOf(actor, "request.read");
    const { keptUntil, ...bodies } = await getRequestBody(services, params["id"]!, visibility);
    return { body: { ...bodies, kept_until: keptUntil.toISOString() } };
  },
});
