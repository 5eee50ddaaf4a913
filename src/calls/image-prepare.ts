/**
 * Resolves the model of an image call and the vendors that may serve it: those that answer synchronously, and stream if that is asked
 * for. Requirements: EDIT1, EDIT2 (two forms on one path); rows IMG-02, IMG-03, EDIT1-12, EDIT2-01, EDIT2-40.
 */
import { GatewayError } from "../base/errors.ts";
import type { Catalog, MediaOffer } from "../catalog/index.ts";
import { families, type MediaRequest } from "../media/index.ts";
import { isMediaModel, modelsFor, openScope } from "../routing/index.ts";
import { mediaEntryPoints, prepareMedia, type PreparedMedia } from "../tasks/index.ts";
import { routingScope } from "../tenancy/index.ts";
import { mediaDialect } from "../upstream/index.ts";
import type { ImageCall, ImageServices } from "./image-context.ts";

/** Prepares a call. @throws GatewayError 400 or 403 if it is refused */
export function prepareImage(
  { health, ...services }: Pick<ImageServices, "catalog" | "health">,
  call: ImageCall,
): PreparedMedia {
  const catalog = services.catalog();
  const { caller, input, model = defaultModel(catalog, call) } = call;
  const about = { catalog, health, caller, model, input };
  const dialectOf = ({ provider }: MediaOffer) =>
    mediaDialect(catalog.providers.get(provider)!.dialect, "image")!;
  const isSlow = (offer: MediaOffer) =>
    dialectOf(offer).synchronous === true ? undefined : "its vendor makes images as tasks only";
  const cannotStream = (offer: MediaOffer, request: MediaRequest) =>
    asksForStream(request) && !offer.streaming ? "it does not stream" : undefined;
  try {
    return prepareMedia({
      ...about,
      exclusion: (offer, request) => isSlow(offer) ?? cannotStream(offer, request),
    });
  } catch (error) {
    const known = outsideDomain(catalog, call, error);
    // Other reasons for refusal are reported first.
    if (known === error) prepareMedia({ ...about, exclusion: isSlow });
    else throw known;
    throw new GatewayError(
      "streaming_not_supported",
      "stream: no provider of this model streams pictures.",
      { param: "stream" },
    );
  }
}

const asksForStream = (request: MediaRequest): boolean =>
  request.kind === "image" && request.stream === true;

/** The models of this form that the caller can call, or that another scope allows. */
function modelsOf(catalog: Catalog, { caller, form }: ImageCall, scope = routingScope(caller)) {
  const entryPoint = mediaEntryPoints[form];
  return modelsFor(catalog, scope).flatMap((callable) =>
    isMediaModel(callable) && callable.model.endpoints.includes(entryPoint) ? [callable.model] : [],
  );
}

/** The default model for a call that names none, even if its caller may not call it. @throws GatewayError if there is none */
function defaultModel(catalog: Catalog, call: ImageCall): string {
  const models = [...modelsOf(catalog, call), ...modelsOf(catalog, call, openScope)];
  const found = models.find(({ family }) => families[family].isDefault);
  if (found) return found.id;
  throw new GatewayError("missing_required_parameter", "The field model is required.", {
    param: "model",
  });
}

/** Here an unknown model is an invalid value, because the field is an enumeration (IMG-02). */
function outsideDomain(catalog: Catalog, call: ImageCall, error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== "model_not_found") return error;
  const ids = modelsOf(catalog, call).map(({ id }) => id);
  if (ids.length === 0) return error;
  const message = `model: must be one of ${ids.join(", ")}.`;
  return new GatewayError("invalid_value", message, { param: "model" });
}
