/**
 * The families of image and video models for the configuration: their kind, endpoints and price schema. The meaning of a call is
 * in `src/media/families`. Requirements: VER-01; docs/decisions.md "Also served".
 */

/** The call endpoints, by the names in model lists. */
export const callEndpoints = [
  "chat_completions",
  "responses",
  "messages",
  "generate_content",
  "embeddings",
  "images_generations",
  "images_edits",
  "tasks",
  "videos_generations",
] as const;

/** The endpoints that a media model may have, by the names in `GET /v1/models`. */
export type MediaEndpoint = "images_generations" | "images_edits" | "tasks" | "videos_generations";

interface FamilyRow {
  readonly kind: "image" | "video";
  /** A model is listed at and callable through only these. */
  readonly endpoints: readonly MediaEndpoint[];
  /** The name of its price schema (media-price-schema.ts). */
  readonly price: "tokens" | "tiers" | "images" | "seconds" | "sound_seconds" | "video_tokens";
}

const rows = {
  "image-a": { kind: "image", endpoints: ["images_generations", "images_edits"], price: "tokens" },
  "image-b": { kind: "image", endpoints: ["images_edits", "tasks"], price: "tokens" },
  "task-image-1": { kind: "image", endpoints: ["tasks"], price: "tiers" },
  "task-image-2": { kind: "image", endpoints: ["tasks"], price: "tokens" },
  "image-c": { kind: "image", endpoints: ["tasks"], price: "images" },
  "video-v1": { kind: "video", endpoints: ["tasks", "videos_generations"], price: "sound_seconds" },
  "video-v1.5": {
    kind: "video",
    endpoints: ["tasks", "videos_generations"],
    price: "sound_seconds",
  },
  "video-seconds": { kind: "video", endpoints: ["tasks"], price: "seconds" },
  "video-tokens": { kind: "video", endpoints: ["tasks"], price: "video_tokens" },
} as const satisfies Readonly<Record<string, FamilyRow>>;

/** The type of the rows, with literal kinds and prices. */
export type FamilyRows = typeof rows;
export type MediaFamilyName = keyof FamilyRows;
type FamilyOf<Kind extends FamilyRow["kind"]> = {
  [Name in MediaFamilyName]: FamilyRows[Name]["kind"] extends Kind ? Name : never;
}[MediaFamilyName];
export type ImageFamily = FamilyOf<"image">;
export type VideoFamily = FamilyOf<"video">;

export const mediaFamilies: Readonly<Record<MediaFamilyName, FamilyRow>> = rows;

/** Every family, in the order of the documentation. */
export const mediaFamilyNames = Object.keys(rows) as readonly MediaFamilyName[];
