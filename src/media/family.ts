/**
 * A family of models: its fields with their domains, the handling of values outside them, its limits and its billing.
 * Data that one reader (read.ts) interprets; the pages and `supported_parameters` come from the same data.
 * Requirements: TASK, NVID, IMG, EDIT1, EDIT2, LIM; docs/architecture.md.
 */
import type { ErrorCode } from "../base/errors.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import type { MediaForm, Upload } from "./types.ts";

/** A piece of material in the `media` list. */
export interface MediaItem {
  readonly type: "first_frame" | "last_frame" | "reference_image";
  readonly url: string;
  /** Its path in the caller's request: `media[2].url`. */
  readonly param: string;
}

/** The fields after reading, by the names of `MediaRequest`. Absent: not given, or dropped. */
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

/** The values that a field takes. In multipart bodies numbers and booleans are text; the domain is the same. */
export type Domain =
  /** Any text, or with `max` any text of at most that many characters. */
  | { readonly type: "string"; readonly max?: number }
  | {
      readonly type: "enum";
      readonly values: readonly string[];
      /** Values outside the domain that are sent, for the upstream to refuse. */
      readonly forwarded?: readonly string[];
    }
  /** `textToo`: JSON may also have it as text, because another form of the same call has only text. */
  | {
      readonly type: "integer";
      readonly min: number;
      readonly max: number;
      readonly textToo?: boolean;
    }
  | { readonly type: "boolean"; readonly textToo?: boolean }
  /** One of `presets`, or with `custom` any `<width>x<height>` within the limits of sizes.ts. */
  | { readonly type: "size"; readonly presets: readonly string[]; readonly custom: boolean }
  /** `{url}` */
  | { readonly type: "material" }
  /** A list of at most `max` times `{url}`. */
  | { readonly type: "materials"; readonly max: number }
  /** A list of `{type, url}`, each of which stands for a dedicated field. */
  | { readonly type: "media" };

export interface Field {
  /** The caller's name of the field, except in the forms of `nameIn`. */
  readonly name: string;
  readonly nameIn?: Partial<Readonly<Record<MediaForm, string>>>;
  /** The forms that have it; absent: all forms of the family. */
  readonly forms?: readonly MediaForm[];
  readonly domain: Domain;
  readonly required?: boolean;
  readonly default?: string | number | boolean;
  /** The default applies only if this other field is absent; else the vendor chooses. */
  readonly defaultWithout?: FieldKey;
  /** The handling of a value outside the domain; absent: refused with 400. */
  readonly outside?: "drop" | "forward";
  /** The code of that 400, if there is a more specific one than usual. */
  readonly code?: ErrorCode;
  /** One clause for the documentation. */
  readonly meaning: string;
}

/** The limits of a call's files. Sizes in bytes. */
export interface FileLimits {
  readonly most: number;
  readonly bytesMost: number;
  /** The limit of all files together, in base64. */
  readonly encodedBytesMost?: number;
  /** The forms that need at least one. */
  readonly requiredIn?: readonly MediaForm[];
  /** Whether a mask is used; if not, it is dropped with a note. */
  readonly mask: boolean;
}

/** The context of a call and the reader's reports, for the rules of a family. */
export interface Reading {
  readonly form: MediaForm;
  readonly images: readonly Upload[];
  /** The name that the caller used for a field, or would have to use. */
  nameOf(key: FieldKey): string;
  /** Reports a change; `detail` is a clause without the field's name. */
  note(key: FieldKey, kind: "dropped" | "rewritten" | "ignored", detail: string): void;
  /** Refuses the call. The message is the field's name followed by `why`. */
  refuse(key: FieldKey, code: ErrorCode, why: string): never;
}

/** A rule between fields: takes the given values and returns the ones that remain. Runs before defaults apply. */
export type Rule = (values: Values, reading: Reading) => Values;

/** The largest frame of each resolution, in pixels, over all aspect ratios. */
export type FramePixels = Readonly<Record<string, number>>;

/** The unit in which a family's calls are counted. */
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
  /** Calls without a model use one of this family. */
  readonly isDefault?: boolean;
  /** In the order of the documentation. */
  readonly fields: Readonly<Partial<Record<FieldKey, Field>>>;
  /** Fields of other families that are dropped, with the reason as a clause; null: without a note. */
  readonly drops?: Readonly<Record<string, string | null>>;
  /** Fields that are refused although unknown ones are dropped, with the reason. */
  readonly refuses?: Readonly<Record<string, string>>;
  /** The forms that refuse unknown fields instead of dropping them. */
  readonly strictForms?: readonly MediaForm[];
  readonly files?: FileLimits;
  readonly rules: readonly Rule[];
  /** The effects of the rules, as sentences for the documentation. */
  readonly remarks: readonly string[];
  readonly usage: UsageBasis;
  /** Seconds that a task of the family may take, unless the call sets its own limit. */
  readonly expirySeconds: number;
}

/** The name of a field in a form; undefined if the form does not have it. */
export function fieldName(field: Field, form: MediaForm): string | undefined {
  if (field.forms && !field.forms.includes(form)) return undefined;
  return field.nameIn?.[form] ?? field.name;
}
