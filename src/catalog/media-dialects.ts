/** The dialects that make images and videos, and those that stream partial images. `src/upstream/media` has one writer for each. */
import type { Dialect } from "./dialects.ts";

/** The dialects that make media, by kind. */
export const mediaDialects = {
  image: ["openai", "openai-compatible", "xai", "dashscope"],
  video: ["xai", "dashscope", "ark"],
} as const satisfies Readonly<Record<"image" | "video", readonly Dialect[]>>;

/** A dialect that makes media of a kind. */
export type MediaDialectName<Kind extends keyof typeof mediaDialects> =
  (typeof mediaDialects)[Kind][number];

const streaming: readonly Dialect[] = ["openai", "openai-compatible"];

/** Whether a media offer streams: if its dialect does, unless the file sets `streaming: false` (docs/configuration.md). */
export const offerStreams = (
  kind: "image" | "video",
  dialect: Dialect | undefined,
  said: boolean | undefined,
): boolean =>
  kind === "image" && said !== false && dialect !== undefined && streaming.includes(dialect);
