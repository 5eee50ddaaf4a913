/** Actions on a provider beyond changing its settings: its keys, a test, a pause. docs/models.md "Side by side". */
import { hourMs } from "../../base/durations.ts";
import { Type } from "../../base/json-schema.ts";
import { addCredential, dropCredential, pauseProvider, permit } from "../../admin/index.ts";
import { invalidValue } from "../../base/errors.ts";
import { notFound } from "../../tenancy/index.ts";
import type { AdminServices } from "../services.ts";
import { answer, changeWith, keyOf, providerAnswerSchema } from "./provider-requests.ts";
import { route } from "./route.ts";
import { nullable, strict, timeBody, timeOf } from "./schemas.ts";

const addKey = route({
  method: "POST",
  path: "/providers/{id}/credentials",
  operationId: "addProviderCredential",
  conditional: true,
  summary: "Add a key to a provider; its keys share the load",
  action: "provider.change",
  body: strict({
    id: Type.String({ maxLength: 64, description: "A name for logs and metrics." }),
    api_key: Type.String({ minLength: 1, description: "The vendor's key; never shown again." }),
    weight: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: "Share of the load; default 1." }),
    ),
  }),
  example: { id: "team-b", api_key: "the vendor's key" },
  answer: providerAnswerSchema,
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { id, api_key, weight = 1 } = request.body;
    const credential = { id, apiKey: keyOf(api_key), weight };
    const object = await changeWith(request, {
      action: "provider.change",
      apply: (context, row) => addCredential(context, row, credential),
    });
    return answer(request, object);
  },
});

const removeKey = route({
  method: "DELETE",
  path: "/providers/{id}/credentials/{credential_id}",
  operationId: "removeProviderCredential",
  conditional: true,
  summary: "Remove a key of a provider; calls in flight keep it",
  action: "provider.change",
  answer: providerAnswerSchema,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const object = await changeWith(request, {
      action: "provider.change",
      apply: (context, row) => dropCredential(context, row, request.params["credential_id"]!),
    });
    return answer(request, object);
  },
});

const trialShape = Type.Object({
  ok: Type.Boolean(),
  model: Type.String(),
  credential: Type.String(),
  status: nullable(Type.Integer({ description: "The vendor's HTTP status; null: it gave none." })),
  duration_ms: Type.Integer(),
  message: Type.String({
    description: "The vendor's message, with credentials masked, or the gateway's reason.",
  }),
});

const test = route({
  method: "POST",
  path: "/providers/{id}/test",
  operationId: "testProvider",
  summary: "Test a provider with a call of a few tokens",
  description:
    "One call to the cheapest of its models, or to `model`, for at most 15 seconds. The vendor may bill it; no workspace is charged. Providers of the file can be tested too.",
  action: "provider.test",
  body: strict({
    model: Type.Optional(Type.String({ maxLength: 300 })),
    credential: Type.Optional(Type.String({ maxLength: 64, description: "Absent: the first." })),
  }),
  answer: { name: "ProviderTest", schema: trialShape },
  errors: ["not_found", "insufficient_permissions"],
  async handle({ services, actor, params, body }) {
    permit(actor, "provider.test", {}, "provider");
    const catalog = services.catalog();
    const provider = catalog.providers.get(params["id"]!);
    if (provider === undefined) throw notFound("provider");
    const { model, credential } = body;
    const { durationMs, ...trial } = await services.tryProvider({
      catalog,
      provider,
      model,
      credential,
    });
    return { body: { ...trial, duration_ms: durationMs } };
  },
});

const pauseMsMax = 7 * 24 * hourMs;

/** Returns the end of a pause. @throws GatewayError `invalid_value` */
function pauseEnd({ clock }: AdminServices, until: string | undefined): Date {
  const nowMs = clock.now();
  const end = timeOf(until, "until") ?? new Date(nowMs + hourMs);
  if (end.getTime() > nowMs && end.getTime() <= nowMs + pauseMsMax) return end;
  throw invalidValue("until", "must be within the next seven days");
}

const pause = route({
  method: "POST",
  path: "/providers/{id}/pause",
  operationId: "pauseProvider",
  conditional: true,
  summary: "Pause a provider: it gets no new calls",
  description:
    "For an hour, or until a time within seven days. The pause ends by itself. Providers of the file can be paused too. Calls in flight finish.",
  action: "provider.pause",
  body: strict({ until: Type.Optional(timeBody) }),
  answer: providerAnswerSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    permit(request.actor, "provider.pause", {}, "provider");
    const until = pauseEnd(request.services, request.body.until);
    const object = await changeWith(request, {
      action: "provider.pause",
      apply: (context, row) => pauseProvider(context, row, until),
    });
    return answer(request, object);
  },
});

const resume = route({
  method: "POST",
  path: "/providers/{id}/resume",
  operationId: "resumeProvider",
  conditional: true,
  summary: "End the pause of a provider",
  action: "provider.pause",
  body: strict({}),
  answer: providerAnswerSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const object = await changeWith(request, {
      action: "provider.pause",
      apply: (context, row) => pauseProvider(context, row, null),
    });
    return answer(request, object);
  },
});

export const providerMoveRoutes = [addKey, removeKey, test, pause, resume];
