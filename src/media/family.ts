/**
 * What a family is: its fields with their domains, what happens to what is outside them, its limits and how it is billed.
 * Data that one reader (read.ts) interprets; the pages and `supported_parameters` come from the same data.
 * Requirements: TASK, NVID, IMG, EDIT1, EDIT2, LIM; docs/architecture.md.
 */
import type { ErrorCode } from "../base/errors.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import type { MediaForm, Upload } from "./types.ts";

/** A piece of material as the `media` list names it. */
export interface MediaItem {
  readonly type: "first_frame" | "last_frame" | "reference_image";
  readonly url: string;
  /** Where the caller wrote it: `media[2].url`. */
  readonly param: string;
}

/** The fields as they are read, by the names of `MediaRequest`. Absent: not given, or dropped. */
export interface Values {
  prompt?: string;
  n?: number;
  size?: string;
  aspectRatio?: string;
  imageSize?: string;
  quality?: string;
  background?: string;
  outputFormat?: string;
  outputCompression?: number;
  inputFidelity?: string;
  moderation?: string;
  user?: string;
  negativePrompt?: string;
  promptExtend?: boolean;
  seed?: number;
  watermark?: boolean;
  stream?: boolean;
  partialImages?: number;
  durationSeconds?: number;
  resolution?: string;
  firstFrame?: string;
  lastFrame?: string;
  references?: readonly string[];
  media?: readonly MediaItem[];
  audio?: boolean;
  cameraFixed?: boolean;
  expiresAfterSeconds?: number;
}
export type FieldKey = keyof Values;

/** The values a field takes. In multipart bodies numbers and truth values are text; the domain is the same. */
export type Domain =
  /** Any text, or any of at most `max` characters. */
  | { readonly type: "string"; readonly max?: number }
  | {
      readonly type: "enum";
      readonly values: readonly string[];
      /** Values outside the domain that the upstream is left to refuse. */
      readonly forwarded?: readonly string[];
    }
  /** `textToo`: JSON may have it as text as well, because another form of the same call has only text. */
  | {
      readonly type: "integer";
      readonly min: number;
      readonly max: number;
      readonly textToo?: boolean;
    }
  | { readonly type: "boolean"; readonly textToo?: boolean }
  /** One of `presets`, or with `custom` any `<width>x<height>` within the rules of sizes.ts. */
  | { readonly type: "size"; readonly presets: readonly string[]; readonly custom: boolean }
  /** `{url}` */
  | { readonly type: "material" }
  /** At most `max` times `{url}`. */
  | { readonly type: "materials"; readonly max: number }
  /** `{type, url}`, each the same as a dedicated field. */
  | { readonly type: "media" };

export interface Field {
  /** The caller's name, but for the forms in `nameIn`. */
  readonly name: string;
  readonly nameIn?: Partial<Readonly<Record<MediaForm, string>>>;
  /** The forms that have it; absent: all of the family. */
  readonly forms?: readonly MediaForm[];
  readonly domain: Domain;
  readonly required?: boolean;
  readonly default?: string | number | boolean;
  /** The default holds only where this other field is absent; else the vendor chooses. */
  readonly defaultWithout?: FieldKey;
  /** What happens to a value outside the domain: refused with 400 where absent. */
  readonly outside?: "drop" | "forward";
  /** The code of that 400, where a more telling one than the usual exists. */
  readonly code?: ErrorCode;
  /** One clause for the documentation. */
  readonly meaning: string;
}

/** What the files of a call may be. Sizes in bytes. */
export interface FileLimits {
  readonly most: number;
  readonly bytesMost: number;
  /** All of them in base64. */
  readonly encodedBytesMost?: number;
  /** The forms that need at least one. */
  readonly requiredIn?: readonly MediaForm[];
  /** Whether a mask is used; where not, it is dropped and noted. */
  readonly mask: boolean;
}

/** How the reader reports what it sees; given to the rules of a family. */
export interface Reading {
  readonly form: MediaForm;
  readonly images: readonly Upload[];
  /** The name the caller used for a field, or would have to. */
  nameOf(key: FieldKey): string;
  /** Reports a change; `detail` is a clause without the field's name. */
  note(key: FieldKey, kind: "dropped" | "rewritten" | "ignored", detail: string): void;
  /** Refuses the call. The field's name stands before `why`. */
  refuse(key: FieldKey, code: ErrorCode, why: string): never;
}

/** A rule between fields: what was given in, what is left of it out. Runs before defaults apply. */
export type Rule = (values: Values, reading: Reading) => Values;

/** Largest frame of a resolution, in pixels, over all aspect ratios. */
export type FramePixels = Readonly<Record<string, number>>;

/** What a family's calls are counted in. */
export type UsageBasis =
  | { readonly unit: "image_tokens"; readonly autoSizes: readonly string[] }
  | { readonly unit: "images" }
  | { readonly unit: "video_seconds" }
  | {
      readonly unit: "video_tokens";
      readonly framePixels: FramePixels;
      readonly widestRatio: string;
    };

export interface MediaFamily {
  readonly name: ImageFamily | VideoFamily;
  readonly kind: "image" | "video";
  readonly forms: readonly MediaForm[];
  /** Calls that name no model mean one of this family. */
  readonly isDefault?: boolean;
  /** In the order in which the documentation shows them. */
  readonly fields: Readonly<Partial<Record<FieldKey, Field>>>;
  /** Fields of other families that are dropped: why, as a clause, or null where nothing is said. */
  readonly drops?: Readonly<Record<string, string | null>>;
  /** Fields that are refused though unknown ones are dropped: why. */
  readonly refuses?: Readonly<Record<string, string>>;
  /** The forms that refuse unknown fields instead of dropping them. */
  readonly strictForms?: readonly MediaForm[];
  readonly files?: FileLimits;
  readonly rules: readonly Rule[];
  /** What the rules amount to, as sentences for the documentation. */
  readonly remarks: readonly string[];
  readonly usage: UsageBasis;
  /** How long a task of the family may take, unless the call says otherwise. */
  readonly expirySeconds: number;
}

/** The name of a field in a form; undefined where the form does not have it. */
export function fieldName(field: Field, form: MediaForm): string | undefined {
  if (field.forms && !field.forms.includes(form)) return undefined;
  return field.nameIn?.[form] ?? field.name;
}
