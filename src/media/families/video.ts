/** Common parts of the video families. Requirements: VID, NVID, LIM. */
import type { Field, FieldKey, Rule } from "../family.ts";
import { materialFits, mergeMedia, needsPromptOrMaterial, referencesMax } from "../material.ts";

export const daySeconds = 86_400;

const ratios = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"];

export const aspectRatio = (values: readonly string[] = ratios): Field => ({
  name: "aspect_ratio",
  domain: { type: "enum", values },
  default: "16:9",
  defaultWithout: "firstFrame",
  meaning: "the shape of the picture",
});

export const resolution = (values: readonly string[]): Field => ({
  name: "resolution",
  domain: { type: "enum", values },
  default: "480p",
  code: "resolution_not_supported",
  meaning: "the size, which is also the pricing tier",
});

export const audio: Field = {
  name: "audio",
  nameIn: { videos: "generate_audio" },
  domain: { type: "boolean" },
  meaning: "false: no audio track",
};

export const moderation: Field = {
  name: "moderation",
  domain: { type: "enum", values: ["low", "auto", "high"] },
  meaning: "how strictly the vendor checks; if absent, the vendor's default",
};

export const seed = (min: number, max: number): Field => ({
  name: "seed",
  domain: { type: "integer", min, max },
  meaning: "the same seed gives a similar result",
});

export const watermark: Field = {
  name: "watermark",
  domain: { type: "boolean" },
  meaning: "whether the vendor adds a watermark",
};

export const negativePrompt: Field = {
  name: "negative_prompt",
  domain: { type: "string" },
  meaning: "what the result must not show",
};

export const user: Field = {
  name: "user",
  domain: { type: "string" },
  meaning: "your end user, best as a hash",
};

/** Prompt, length and material. */
export const common = {
  prompt: {
    name: "prompt",
    domain: { type: "string" },
    meaning: "required without material",
  },
  durationSeconds: {
    name: "duration",
    domain: { type: "integer", min: 1, max: 15 },
    default: 8,
    code: "duration_above_max",
    meaning: "seconds",
  },
  firstFrame: {
    name: "image",
    domain: { type: "material" },
    meaning: "the first frame; makes it image-to-video",
  },
  lastFrame: {
    name: "last_frame",
    domain: { type: "material" },
    meaning: "the last frame; only together with `image`",
  },
  references: {
    name: "reference_images",
    domain: { type: "materials", max: referencesMax },
    meaning: "what the video should show; not together with frames",
  },
  media: {
    name: "media",
    forms: ["tasks"],
    domain: { type: "media" },
    meaning: "the same material in one list, by `type`: first_frame, last_frame, reference_image",
  },
} as const satisfies Partial<Record<FieldKey, Field>>;

/** The rules between fields that apply to every family, in their order. */
export const commonRules: readonly Rule[] = [mergeMedia, materialFits, needsPromptOrMaterial];

/** The effects of the common rules, as sentences. */
export const commonRemarks: readonly string[] = [
  "`image` makes it image-to-video, `image` with `last_frame` pins both ends, `reference_images` makes it reference-to-video; prompt alone is text-to-video. A last frame without a first, and references beside frames, are refused.",
  "`media` may be combined with the dedicated fields, but must not repeat their material.",
];

/** The effect of `ratioFollowsFrame`. */
export const followsFrame =
  "With a first frame the output has the image's shape: `aspect_ratio` is dropped with a note.";

/**
 * Refused, although unknown fields are dropped: without the requested sound (NVID-23) or pictures it would be another video, and the
 * answer of xAI's path has no notes.
 */
export const refuses = {
  reference_audios: "is not supported; leave it out",
  keyframes: "is not supported; send image and last_frame",
};
