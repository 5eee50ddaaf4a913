/**
 * Media as a target takes it: carried, left out, refused, or, of documents of text, as text. CONV-424 to CONV-426, CONV-517, CONV-518,
 * CONV-606.
 */
import type { MediaPart, MediaSource, Message, Part } from "./canonical/request.ts";
import { modalityOf } from "./fit-abilities.ts";
import { lacks, type Context } from "./fit-context.ts";
import type { FitTarget } from "./fit-fields.ts";
import { refusalOf, type Loss } from "./losses.ts";
import { documentParts } from "./text-documents.ts";

/** A part of media as the target takes it, and what became of a document. @throws GatewayError `unsupported_content` */
export function fitMedia(
  part: MediaPart,
  { role }: Pick<Message, "role">,
  context: Context,
): Part[] {
  const rule = mediaRule(part, role, context);
  if (rule === "carried" && isRead(part, context)) return [fitDetail(part, context)];
  const { names } = context;
  const param = (role === "assistant" ? names.made : undefined) ?? names.media(part);
  // CONV-426: of messages the row says that any file makes the request fail.
  const said = context.target.limits.media.file === "refused" ? undefined : documentParts(part);
  if (said) {
    context.note(param, "rewritten", "a document of text goes on as text");
    return said.flatMap((one) => (one.type === "media" ? fitMedia(one, { role }, context) : [one]));
  }
  if (rule === "carried") return [fitDetail(part, context)];
  if (rule.class === "refused") throw refusalOf(context.request.protocol, param, rule);
  context.note(param, "dropped", `${rule.what}, dropped`);
  return [];
}

/** Whether the model reads it, as far as its record says. */
const isRead = ({ media }: MediaPart, { target }: Context): boolean =>
  target.abilities?.inputModalities?.includes(modalityOf[media]) ?? true;

/** Whether media goes on, and why it does not. */
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
    return limits.takesType?.(source.mediaType, media) === false
      ? { class: "refused", what: `${media} content of the type ${source.mediaType}` }
      : "carried";
  if (source.kind === "url" && limits.takesUrl(source.url, media)) return "carried";
  const isWeb = source.kind === "url" && /^https?:/i.test(source.url);
  if (isWeb && limits.webMedia === "dropped") {
    const what = `the upstream cannot read ${media} content by this address; send it as base64`;
    return { class: "dropped", what };
  }
  return { class: "refused", what: `${media} content at this address (send it as base64)` };
}

/** Of PDF the rows say what becomes; a document of unknown kind is taken for one (CONV-606). */
const mayBePdf = (source: MediaSource): boolean =>
  source.kind === "file_id" ||
  (source.kind !== "parts" &&
    (source.mediaType === undefined ||
      ["application/pdf", "application/octet-stream"].includes(source.mediaType)));

/** `auto` is what every vendor does unasked. */
function fitDetail(part: MediaPart, context: Context): MediaPart {
  const { detail } = part;
  if (detail === undefined) return part;
  if (!lacks(context, "detail")) {
    const { detailBecomes } = context.target.limits;
    const nearest = Object.hasOwn(detailBecomes, detail) ? detailBecomes[detail] : undefined;
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
