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
  summary: "What was asked, sent and answered, word for word",
  action: "request.read",
  description:
    "Kept of text and embedding calls where the workspace says so (`keep_bodies`), up to 256 kB each, without any header. Keys are masked. 404 where nothing is kept, or is no longer.",
  answer: {
    name: "RequestBody",
    schema: Type.Object({
      request: text("What the caller sent."),
      sent: text("What the last provider was sent; null: none was asked."),
      answer: text("What the caller got; of a stream its events. null: nothing was sent."),
      truncated: Type.Array(words("request", "sent", "answer"), {
        description: "Which of them are cut.",
      }),
      kept_until: timestamp("When it is deleted, as the workspace says now."),
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
