/**
 * The material of a video: two spellings, the pieces that go together, and the mode that follows from them.
 * Requirements: VID, NVID; docs/decisions.md "Material" (`last_frame` without
 * `image`, `reference_images` together with frames, `media` together with the dedicated fields).
 */
import type { FieldKey, MediaItem, Rule, Values } from "./family.ts";
import type { VideoMode } from "./types.ts";

/** The maximum number of reference images of one video (LIM-10). */
export const referencesMax = 14;

/** The mode of the call, from its material (NVID-21). */
export function modeOf({ firstFrame, lastFrame, references }: Values): VideoMode {
  if (firstFrame !== undefined) return lastFrame === undefined ? "image" : "frames";
  return references === undefined || references.length === 0 ? "text" : "reference";
}

const dedicated: Readonly<Record<MediaItem["type"], FieldKey>> = {
  first_frame: "firstFrame",
  last_frame: "lastFrame",
  reference_image: "references",
};

/** Moves the `media` list into the dedicated fields (VID-21, VID-22). Refuses material that both spellings name. */
export const mergeMedia: Rule = (values, reading) => {
  const { media = [], ...rest } = values;
  const merged: Values = { ...rest };
  for (const [type, key] of Object.entries(dedicated)) {
    const urls = media.filter((item) => item.type === type).map(({ url }) => url);
    if (urls.length === 0) continue;
    const given = merged[key];
    if (given !== undefined && (!Array.isArray(given) || given.length > 0)) {
      const why = `names a ${type}, and ${reading.nameOf(key)} does too; one spelling each`;
      reading.refuse("media", "invalid_value", why);
    }
    const most = key === "references" ? referencesMax : 1;
    if (urls.length > most) {
      reading.refuse("media", "too_many_images", `must have at most ${most} of type ${type}`);
    }
    Object.assign(merged, { [key]: key === "references" ? urls : urls[0] });
  }
  return merged;
};

/** Refuses references beside frames, and a last frame without a first. */
export const materialFits: Rule = (values, reading) => {
  const { firstFrame, lastFrame, references = [] } = values;
  if (references.length > 0 && (firstFrame !== undefined || lastFrame !== undefined)) {
    const other = reading.nameOf(firstFrame === undefined ? "lastFrame" : "firstFrame");
    reading.refuse("references", "invalid_value", `cannot be combined with ${other}`);
  }
  if (lastFrame !== undefined && firstFrame === undefined) {
    reading.refuse("lastFrame", "invalid_value", `needs ${reading.nameOf("firstFrame")} as well`);
  }
  return values;
};

/**
 * Refuses a call with neither prompt nor material (VID-04, NVID-09). Beside material it drops a blank prompt: forms send
 * one for an empty field, and vendors refuse it (VID-03).
 */
export const needsPromptOrMaterial: Rule = (values, reading) => {
  const { prompt = "", ...rest } = values;
  if (prompt.trim() !== "") return values;
  if (modeOf(values) !== "text") return rest;
  return reading.refuse(
    "prompt",
    "prompt_or_media_required",
    "is required if no image or other material is sent",
  );
};

/** With a first frame the output follows that image: a ratio has no effect, and is not sent (VID-10, NVID-12, NVID-25). */
export const ratioFollowsFrame: Rule = (values, reading) => {
  if (values.aspectRatio === undefined || values.firstFrame === undefined) return values;
  reading.note(
    "aspectRatio",
    "ignored",
    "no effect on image-to-video, the output follows the image",
  );
  const { aspectRatio: _none, ...rest } = values;
  return rest;
};

/** Limits the length of videos with references or a last frame (VID-07, NVID-08). A first frame alone does not count. */
export const capWithMaterial =
  (secondsMax: number): Rule =>
  (values, reading) => {
    const mode = modeOf(values);
    if ((values.durationSeconds ?? 0) <= secondsMax || mode === "text" || mode === "image")
      return values;
    const why = `must be at most ${secondsMax} with reference images or a last frame`;
    return reading.refuse("durationSeconds", "duration_above_max", why);
  };
