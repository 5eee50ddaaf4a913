/** Shared by all paths that create tasks: parses the body, claims the idempotency key, keeps or removes uploads. Requirements: TASK. */
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import type { Tags } from "../../base/tags.ts";
import type { MediaForm, MediaInput } from "../../media/index.ts";
import { mediaBody, picturesOf, tagsOf } from "../../calls/index.ts";
import type { FileDrafts } from "../../files/index.ts";
import {
  mediaEntryPoints,
  isCertainRefusal,
  type IdempotencyClaim,
  type RequestChange,
  type SubmitResult,
} from "../../tasks/index.ts";
import { modelInBody, readBody } from "../bodies/body.ts";
import { tagHeaders } from "../callers/caller.ts";
import { fingerprint, idempotencyKeyOf } from "../forms/creation-headers.ts";
import { receiveForm } from "../forms/receive-form.ts";
import type { HttpServices } from "../services.ts";
import { refuseUnstorableText } from "../bodies/stored-text.ts";

/** A body that creates a task, in the caller's own field names. */
export interface Creation {
  readonly model: string;
  readonly webhookUrl: string | undefined;
  readonly input: MediaInput;
  /** The content that a replay must repeat. */
  readonly content: unknown;
  readonly uploads?: FileDrafts;
}

/** Parses a JSON body that creates a task. `fieldsOf` converts a path's own field names. @throws GatewayError */
export async function jsonCreation(
  request: FastifyRequest,
  form: MediaForm,
  fieldsOf: (body: Readonly<Record<string, unknown>>) => Record<string, unknown> = (body) => body,
): Promise<Creation> {
  const body = await readBody(request);
  return creation(fieldsOf(body), body, { form, encoding: "json", images: [] });
}

/**
 * Parses a multipart body that creates a task. Its pictures are stored when this returns.
 * @throws GatewayError; then nothing is kept
 */
export async function multipartCreation(
  services: HttpServices,
  request: FastifyRequest,
): Promise<Creation> {
  const { fields, digest, images, mask, uploads } = await receiveForm(services, request);
  try {
    const made = creation(fields, digest, { form: "tasks", encoding: "multipart", images, mask });
    return { ...made, uploads };
  } catch (error) {
    await uploads.discard();
    throw error;
  }
}

function creation(
  body: Readonly<Record<string, unknown>>,
  content: unknown,
  input: Omit<MediaInput, "fields">,
): Creation {
  refuseUnstorableText(body, "brackets");
  const { model, webhook_url: webhookUrl, ...fields } = body;
  return {
    model: modelInBody({ model }),
    webhookUrl: textOf(webhookUrl, "webhook_url"),
    input: { ...input, fields },
    content,
  };
}

function textOf(value: unknown, param: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_type", `The field ${param} must be a string.`, { param });
}

/** Passes a creation through the operator's hooks, and returns their changes. @throws GatewayError */
async function changeOf(
  { text: { hooks } }: HttpServices,
  request: FastifyRequest,
  { model, webhookUrl, input, tags }: Creation & { readonly tags: Tags },
): Promise<RequestChange> {
  const outcomes: object[] = [];
  const asking = hooks?.before({
    id: request.id,
    endpoint: mediaEntryPoints[input.form],
    model,
    stream: false,
    caller: request.caller!,
    body: {
      ...mediaBody({ model, input }),
      ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
    },
    modelInBody: true,
    tags,
    about: { pictures: picturesOf(input) },
    lease: request.lease!,
    noted: (outcome) => outcomes.push(outcome),
  });
  const changed = asking && (await asking);
  if (changed === undefined) return { notes: [], hooks: outcomes };
  const made = creation(changed.source.value, undefined, input);
  return {
    model: made.model,
    webhookUrl: made.webhookUrl,
    input: made.input,
    notes: changed.notes,
    hooks: outcomes,
  };
}

/** Submits a creation. Removes uploads that no task needs. @throws GatewayError if it is refused */
export async function submitCreation(
  services: HttpServices,
  request: FastifyRequest,
  asked: Creation,
): Promise<SubmitResult> {
  const { model, webhookUrl, input, content, uploads } = asked;
  try {
    const tags = tagsOf("tasks", input.fields, tagHeaders(request));
    const result = await services.tasks.submit({
      caller: request.caller!,
      model,
      input,
      webhookUrl,
      idempotency: claimOf(request, content),
      traceparent: request.span?.traceparent,
      tags,
      change: () => changeOf(services, request, { ...asked, tags }),
    });
    if (result.replayed) await uploads?.discard();
    return result;
  } catch (error) {
    if (isCertainRefusal(error)) await uploads?.discard();
    throw error;
  }
}

/** Returns the claim of the request's idempotency key; undefined without one. @throws GatewayError `invalid_value` */
export function claimOf(request: FastifyRequest, content: unknown): IdempotencyClaim | undefined {
  const key = idempotencyKeyOf(request.headers);
  if (key === undefined) return undefined;
  return { key, fingerprint: fingerprint(request.method, request.match.path, content) };
}

/** The header that marks a replay. */
export const replayHeaders = ({ replayed }: SubmitResult): Record<string, string> =>
  replayed ? { "idempotent-replayed": "true" } : {};
