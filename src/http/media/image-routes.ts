/**
 * The two paths that make and edit images while the caller waits, whole or streamed. Generations take JSON, edits a form. Requirements:
 * IMG, EDIT1, EDIT2; docs/decisions.md "Idempotency".
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import {
  findReplay,
  runImageCall,
  tagsOf,
  type ImageCall,
  type Replay,
} from "../../calls/index.ts";
import type { FileDrafts } from "../../files/index.ts";
import { modelInBody, readBody } from "../bodies/body.ts";
import { tagHeaders } from "../callers/caller.ts";
import { claimOf } from "./create-task.ts";
import { answerFailure } from "../errors/failure.ts";
import { handle } from "../handle.ts";
import { isForm, receiveForm } from "../forms/receive-form.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import { createTextReply } from "../text/reply-stream.ts";
import type { HttpServices } from "../services.ts";
import { refuseUnstorableText } from "../bodies/stored-text.ts";

/** Adds both paths. */
export function registerImageRoutes(app: FastifyInstance, services: HttpServices): void {
  handle(app, "POST /v1/images/generations", async (request, reply) =>
    answer(services, { request, reply, body: await generation(request) }),
  );
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The route reads the body itself, as it arrives.
    scope.addContentTypeParser("multipart/form-data", (_request, _payload, parsed) => parsed(null));
    scope.addContentTypeParser("*", (_request, _payload, parsed) => parsed(noForm()));
    handle(scope, "POST /v1/images/edits", async (request, reply) =>
      answer(services, { request, reply, body: await edit(services, request) }),
    );
    done();
  });
}

/** A parsed body. */
interface Body {
  readonly form: ImageCall["form"];
  readonly input: ImageCall["input"];
  readonly model: unknown;
  /** The content that a replay must repeat. */
  readonly content: unknown;
  readonly uploads?: FileDrafts;
}

async function generation(request: FastifyRequest): Promise<Body> {
  const content = await readBody(request);
  const { model, ...fields } = content;
  const input = { form: "images", fields, encoding: "json", images: [] } as const;
  return { form: "images", model, input, content };
}

const noForm = (): GatewayError =>
  new GatewayError(
    "malformed_request",
    "The body must be multipart/form-data, with the pictures as files (image or image[]).",
  );

async function edit(services: HttpServices, request: FastifyRequest): Promise<Body> {
  if (!isForm(request)) throw noForm();
  const { fields, digest, images, mask, uploads } = await receiveForm(services, request);
  const { model, ...rest } = fields;
  const input = { form: "edits", fields: rest, encoding: "multipart", images, mask } as const;
  return { form: "edits", model, input, content: digest, uploads };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: Body;
}

/**
 * Runs the call, or replays its answer. In any case, its uploads and its budget lease end with it. If the client does not read the
 * answer, the limits of its connection apply.
 */
async function answer(services: HttpServices, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply, body } = exchange;
  try {
    refuseUnstorableText(body.input.fields, "brackets");
    const call: ImageCall = {
      id: request.id,
      form: body.form,
      model: modelIn(body),
      input: body.input,
      caller: request.caller!,
      tags: tagsOf("images", body.input.fields, tagHeaders(request)),
      idempotency: claimOf(request, body.content),
      lease: request.lease!,
      span: request.span,
    };
    const { workspaceId } = call.caller;
    const known =
      call.idempotency && (await findReplay(services.images, workspaceId, call.idempotency));
    if (known) return await repeat(services, exchange, known);
    reply.hijack();
    await run(services, exchange, call);
    return reply;
  } finally {
    request.lease!.release();
    await body.uploads?.discard();
  }
}

/** Returns the model that a body names, if any. @throws GatewayError naming the field. */
const modelIn = (body: Body): string | undefined =>
  body.model === null || body.model === undefined ? undefined : modelInBody(body);

async function run(
  services: HttpServices,
  { request, reply }: Exchange,
  call: ImageCall,
): Promise<void> {
  const headers = requestIdHeaders("chat", request.id);
  try {
    await runImageCall(
      services.images,
      call,
      createTextReply(reply.raw, { headers, jsonArray: false, asked: request.raw.headers }),
    );
  } catch (thrown) {
    const { raw, match, id } = request;
    answerFailure(services, { raw, match, response: reply.raw, id }, thrown);
  }
}

async function repeat(
  services: HttpServices,
  { reply }: Exchange,
  { name, mediaType, headers }: Replay,
): Promise<FastifyReply> {
  const file = await services.files.open(name);
  if (file === undefined)
    throw new GatewayError(
      "not_found",
      "The answer of this Idempotency-Key is no longer kept; use a new key for a new request.",
    );
  return reply
    .headers({
      ...headers,
      "content-type": `${mediaType}; charset=utf-8`,
      "content-length": String(file.bytes),
      "idempotent-replayed": "true",
    })
    .send(file.stream);
}
