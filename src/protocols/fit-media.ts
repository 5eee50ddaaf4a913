/**
 * Fits media to the target: carried, dropped, refused or, for text documents, turned into text. CONV-424 to CONV-426, CONV-517, CONV-518,
 * CONV-606.
 */
import type { MediaPart, MediaSource, Message, Part } from "./canonical/request.ts";
import { modalityOf } from "./fit-abilities.ts";
import { lacks, type Context } from "./fit-context.ts";
import type { FitTarget } from "./fit-fields.ts";
import { withTrueType } from "./image-type.ts";
import { refusalOf } from "./loss-refusal.ts";
import type { Loss } from "./losses.ts";
import { documentParts } from "./text-documents.ts";

/** Returns the parts that the target gets for a media part; several for a text document. @throws GatewayError `unsupported_content` */
export function fitMedia(
  given: MediaPart,
  { role }: Pick<Message, "role">,
  context: Context,
): Part[] {
  const part = withTrueType(given);
  if (part !== given) {
    const detail = "the label of a picture set to the type of its bytes: some upstreams compare";
    context.note(context.names.media(part), "rewritten", detail);
  }
  const rule = mediaRule(part, role, context);
  if (rule === "carried" && isRead(part, context)) return [fitDetail(part, context)];
  const { names } = context;
  const param = (role === "assistant" ? names.made : undefined) ?? names.media(part);
  // CONV-426: towards messages any file makes the request fail.
  const said = context.target.limits.media.file === "refused" ? undefined : documentParts(part);
  if (said) {
    context.note(param, "rewritten", "a document of text goes on as text");
    return said.flatMap((one) => (one.type === "media" ? fitMedia(one, { role }, context) : [one]));
  }
  if (rule === "carried") return [fitDetail(part, context)];
  if (rule.class === "refused") throw refusalOf(context.request.protocol, { param }, rule);
  context.note(param, "dropped", `${rule.what}, dropped`);
  return [];
}

/** True if the model reads this kind of media, or its record does not say. */
const isRead = ({ media }: MediaPart, { target }: Context): boolean =>
  target.abilities?.inputModalities?.includes(modalityOf[media]) ?? true;

/** Decides whether media is carried; otherwise, returns the loss with its reason. */
function mediaRule(
  { media, source }: MediaPart,
  role: Message["role"],
  context: Context,
): "carried" | Loss {
  const { limits } = context.target;
  const rule = limits.media[media];
  if (rule === "refused" || (rule === "dropped" && !mayBePdf(source)))
    return { class: "refused", what: `${media} content` };
  if (rule === "dropped")
    return { class: "dropped", what: `${media} content cannot be converted for this upstream` };
  if (source.kind === "parts") return { class: "refused", what: "a document of parts" };
  if (role === "system") return { class: "refused", what: `${media} content of a system turn` };
  if (role === "assistant" && lacks(context, "assistantMedia"))
    return { class: "refused", what: `${media} content that a model made` };
  return sourceRule(source, media, limits);
}

function sourceRule(
  source: MediaSource,
  media: MediaPart["media"],
  limits: FitTarget["limits"],
): "carried" | Loss {
  if (source.kind === "base64")
    return limits.acceptsMediaType?.(source.mediaType, media) === false
      ? { class: "refused", what: `${media} content of the type ${source.mediaType}` }
      : "carried";
  if (source.kind === "url" && limits.fetchesUrl(source.url, media)) return "carried";
  const isWeb = source.kind === "url" && /^https?:/i.test(source.url);
  if (isWeb && limits.webMedia === "dropped") {
    const what = `the upstream cannot read ${media} content by this address; send it as base64`;
    return { class: "dropped", what };
  }
  return {
    class: "refused",
    what: `${media} content at this address`,
    remedy: "Send it as base64",
  };
}

/** The requirement rows speak of PDF; a document of unknown type counts as one (CONV-606). */
export const mayBePdf = (source: MediaSource): boolean =>
  source.kind === "file_id" ||
  (source.kind !== "parts" &&
    (source.mediaType === undefined ||
      ["application/pdf", "application/octet-stream"].includes(source.mediaType)));

/** `auto` is the vendors' default, so it is dropped without a note. */
function fitDetail(part: MediaPart, context: Context): MediaPart {
  const { detail } = part;
  if (detail === undefined) return part;
  if (!lacks(context, "detail")) {
    const { detailReplacements } = context.target.limits;
    const nearest = Object.hasOwn(detailReplacements, detail)
      ? detailReplacements[detail]
      : undefined;
    if (nearest === undefined) return part;
    const why = `"${nearest}" is the most the upstream knows`;
    context.note(context.names.detail, "rewritten", why);
    return { ...part, detail: nearest };
  }
  if (detail !== "auto") {
    context.note(context.names.detail, "dropped", "the upstream knows no image detail, dropped");
  }
  return { ...part, detail: undefined };
}
