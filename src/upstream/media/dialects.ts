/** The media dialect of each vendor, for images and for videos. */
import type { Note } from "../../base/notes.ts";
import type { Dialect, ImageModel, MediaDialectName, VideoModel } from "../../catalog/index.ts";
import type { MediaRequest } from "../../media/index.ts";
import { arkVideo } from "./ark.ts";
import { dashscopeImages } from "./dashscope-images.ts";
import { dashscopeVideo } from "./dashscope-video.ts";
import { openaiImages } from "./openai-images.ts";
import type { MediaDialect } from "./types.ts";
import { xaiImages } from "./xai-images.ts";
import { xaiVideo } from "./xai-video.ts";

type Dialects = {
  readonly [Kind in MediaRequest["kind"]]: Readonly<Record<MediaDialectName<Kind>, MediaDialect>>;
};

const dialects: Dialects = {
  video: { xai: xaiVideo, dashscope: dashscopeVideo, ark: arkVideo },
  image: {
    openai: openaiImages,
    "openai-compatible": openaiImages,
    xai: xaiImages,
    dashscope: dashscopeImages,
  },
};

/** Returns a vendor's dialect for images or videos; undefined if it makes none. */
export const mediaDialect = (
  dialect: Dialect,
  kind: MediaRequest["kind"],
): MediaDialect | undefined => {
  const known: Partial<Readonly<Record<Dialect, MediaDialect>>> = dialects[kind];
  return known[dialect];
};

/**
 * Returns the fields of a request that a vendor's model does not support, before the call and by their unified names. Fields that the
 * family has already noted are no longer in the request, so they are not reported twice.
 */
export const droppedFieldNotes = (
  dialect: Dialect,
  request: MediaRequest,
  upstreamModel: string,
): readonly Note[] =>
  mediaDialect(dialect, request.kind)?.droppedNotes(request, upstreamModel) ?? [];

/** Values of the fields that families pass on unchanged. Others, such as sizes, a family converts to what the vendor has. */
const passedOn = {
  prompt: "x",
  moderation: "low",
  user: "someone",
  negativePrompt: "x",
  promptExtend: true,
  seed: 1,
  watermark: true,
};

/** Returns the parameters, by their unified names, that a vendor's model drops from any request. */
export function parametersDropped(
  dialect: Dialect,
  { kind, family }: Pick<ImageModel | VideoModel, "kind" | "family">,
  upstreamModel: string,
): ReadonlySet<string> {
  const request =
    kind === "image"
      ? { ...passedOn, kind, family, n: 1, images: [] }
      : { ...passedOn, kind, family, mode: "text", durationSeconds: 5, resolution: "720p" };
  const more = kind === "video" ? { references: [], cameraFixed: true } : {};
  const notes = droppedFieldNotes(dialect, { ...request, ...more } as MediaRequest, upstreamModel);
  return new Set(notes.filter((note) => note.kind === "dropped").map(({ param }) => param));
}
