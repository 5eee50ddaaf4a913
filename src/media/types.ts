/**
 * An image or video call in our own terms: the form between the caller's request and the vendor's.
 * Pure data. Requirements: TASK, NVID, EDIT1, EDIT2.
 */
import type { ImageHeader } from "../base/image-header.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";

/** A caller's file in our own storage, kept until its call is over. */
export interface KeptFile {
  /** The name in the file store. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** An uploaded picture, checked by content. */
export type Upload = KeptFile & ImageHeader;

/** The endpoint that received the fields; it decides names, defaults and the handling of unknown fields. */
export type MediaForm = "tasks" | "videos" | "images" | "edits";

/** The caller's input: fields by the caller's own names, without `model`, and the files of a multipart body. */
export interface MediaInput {
  readonly form: MediaForm;
  /** JSON values, or text if the body was multipart. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly encoding: "json" | "multipart";
  readonly images: readonly Upload[];
  readonly mask?: Upload | undefined;
}

/** The mode of a video, by the role of its material. */
export type VideoMode = "text" | "image" | "frames" | "reference";

/** A piece of a video's material: an `https:` address (checked to be public), a `data:` URL, or a file in our storage. */
export type Material = string | KeptFile;

/** A requested video. Absent optional fields are left to the vendor. */
export interface VideoRequest {
  readonly kind: "video";
  readonly family: VideoFamily;
  readonly mode: VideoMode;
  readonly prompt?: string | undefined;
  readonly durationSeconds: number;
  /** The pricing tier, such as `480p`. */
  readonly resolution: string;
  readonly aspectRatio?: string | undefined;
  readonly firstFrame?: Material | undefined;
  readonly lastFrame?: Material | undefined;
  readonly references: readonly Material[];
  readonly audio?: boolean | undefined;
  readonly moderation?: string | undefined;
  readonly user?: string | undefined;
  readonly negativePrompt?: string | undefined;
  readonly promptExtend?: boolean | undefined;
  readonly seed?: number | undefined;
  readonly watermark?: boolean | undefined;
  readonly cameraFixed?: boolean | undefined;
  /** Seconds that the task may take in all; absent: the family's own default. */
  readonly expiresAfterSeconds?: number | undefined;
}

/** A requested image, or an edit if there are input images. Absent optional fields are left to the vendor. */
export interface ImageRequest {
  readonly kind: "image";
  readonly family: ImageFamily;
  readonly prompt: string;
  readonly n: number;
  readonly images: readonly Upload[];
  readonly mask?: Upload | undefined;
  /** `<width>x<height>` or `auto`; families with tiers leave it out. */
  readonly size?: string | undefined;
  readonly aspectRatio?: string | undefined;
  /** `1K`, `2K` or `4K`. */
  readonly imageSize?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly outputFormat?: "png" | "jpeg" | "webp" | undefined;
  readonly outputCompression?: number | undefined;
  readonly inputFidelity?: string | undefined;
  readonly moderation?: string | undefined;
  readonly user?: string | undefined;
  readonly negativePrompt?: string | undefined;
  readonly promptExtend?: boolean | undefined;
  readonly seed?: number | undefined;
  readonly watermark?: boolean | undefined;
  readonly stream?: boolean | undefined;
  readonly partialImages?: number | undefined;
}

export type MediaRequest = VideoRequest | ImageRequest;

/** The amounts that were produced, or the most that can be. The cost depends on them and the price alone. TASK-26 to TASK-31. */
export type MediaUsage =
  | {
      readonly unit: "image_tokens";
      readonly inputTextTokens: number;
      readonly inputImageTokens: number;
      readonly outputTextTokens: number;
      readonly outputImageTokens: number;
    }
  | {
      readonly unit: "images";
      readonly outputImages: number;
      readonly inputImages: number;
      /** The tier that is priced; absent if the family has one price. */
      readonly quality?: string | undefined;
      readonly imageSize?: string | undefined;
    }
  | {
      readonly unit: "video_seconds";
      readonly seconds: number;
      readonly resolution: string;
      readonly silent?: true | undefined;
      readonly inputImages: number;
    }
  | {
      readonly unit: "video_tokens";
      readonly tokens: number;
      /** The tier that is priced; absent in usages from before prices had one by resolution. */
      readonly resolution?: string | undefined;
      readonly silent?: true | undefined;
    };

/** The vendor's report of what it produced; absent fields were not reported. */
export interface ReportedUsage {
  readonly seconds?: number | undefined;
  readonly videoTokens?: number | undefined;
  readonly inputTextTokens?: number | undefined;
  readonly inputImageTokens?: number | undefined;
  readonly outputTextTokens?: number | undefined;
  readonly outputImageTokens?: number | undefined;
}
