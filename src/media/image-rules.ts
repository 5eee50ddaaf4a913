/** Rules between the fields of image calls. Requirements: EDIT1, EDIT2, TIMG1, TIMG2. */
import type { FieldKey, Rule, Values } from "./family.ts";
import { parseSize } from "./sizes.ts";

/** The listed sizes by aspect ratio and tier. */
export type SizeTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

function without(values: Values, ...keys: FieldKey[]): Values {
  const copy = { ...values };
  for (const key of keys) delete copy[key];
  return copy;
}

/**
 * Takes `aspect_ratio` with `image_size` as another spelling of `size`. A given `size` wins with a note, and a pair without a size is
 * dropped with one (EDIT2-16 to EDIT2-19, TIMG2-14 to TIMG2-18). Without `image_size` the ratio's smallest size is used, without
 * a ratio the square.
 */
export const sizeByRatio =
  (table: SizeTable): Rule =>
  (values, reading) => {
    const { size, aspectRatio, imageSize } = values;
    const rest = without(values, "aspectRatio", "imageSize");
    const given = (["aspectRatio", "imageSize"] as const).filter(
      (key) => values[key] !== undefined,
    );
    if (given.length === 0) return rest;
    if (size !== undefined) {
      for (const key of given) reading.note(key, "dropped", "size wins, dropped");
      return rest;
    }
    const sizes = table[aspectRatio ?? "1:1"] ?? {};
    const found = imageSize === undefined ? Object.values(sizes)[0] : sizes[imageSize];
    if (found !== undefined) return { ...rest, size: found };
    for (const key of given) {
      const pair = [aspectRatio, imageSize].filter((part) => part !== undefined).join(" at ");
      reading.note(key, "dropped", `no size is ${pair}, dropped`);
    }
    return rest;
  };

/** Replaces a tier that the model does not have by the nearest one (TIMG2-17). */
export const downgradeTo =
  (tier: string): Rule =>
  (values, reading) => {
    if (values.imageSize === undefined || values.imageSize === tier) return values;
    reading.note("imageSize", "rewritten", `${values.imageSize} is not supported, sent as ${tier}`);
    return { ...values, imageSize: tier };
  };

/** Refuses transparency in JPEG, which has no alpha channel (EDIT2-22, TIMG2-21). */
export const transparencyNeedsAlpha: Rule = (values, reading) => {
  if (values.background === "transparent" && values.outputFormat === "jpeg") {
    reading.refuse("background", "invalid_value", "can be transparent in png and webp only");
  }
  return values;
};

/** Compression of a lossless format has no effect, and is not sent (IMG-16). */
export const compressionOfLossy: Rule = (values, reading) => {
  const lossy = values.outputFormat === "jpeg" || values.outputFormat === "webp";
  if (lossy || values.outputCompression === undefined) return values;
  reading.note("outputCompression", "ignored", "no effect on png, ignored");
  return without(values, "outputCompression");
};

/** Allows one picture per stream, and previews only in a stream (EDIT2-12). */
export const oneWhenStreaming: Rule = (values, reading) => {
  if (values.stream === true && (values.n ?? 1) > 1) {
    reading.refuse("n", "n_must_be_one_when_streaming", "must be 1 when streaming");
  }
  if (values.stream === true || (values.partialImages ?? 0) === 0) return values;
  reading.note("partialImages", "ignored", "no effect without stream, ignored");
  return without(values, "partialImages");
};

/** Drops a field that only edits, or only generations, take (TIMG2-26, TIMG2-30). */
export const onlyFor =
  (kind: "edits" | "generations", key: FieldKey): Rule =>
  (values, reading) => {
    const isEdit = reading.images.length > 0;
    if (values[key] === undefined || isEdit === (kind === "edits")) return values;
    const why = kind === "edits" ? "applies to edits only" : "not supported with reference images";
    reading.note(key, "dropped", `${why}, dropped`);
    return without(values, key);
  };

/** The largest number of pixels of each tier. */
const tierPixels: readonly (readonly [tier: string, pixels: number])[] = [
  ["1K", 2_097_152],
  ["2K", 4_194_304],
  ["4K", Number.POSITIVE_INFINITY],
];

/** Sets the size, and the tier for its price: from a size in pixels if given, else from ratio and tier. */
export const tierOfSize =
  (table: SizeTable): Rule =>
  (values, reading) => {
    if (values.size === undefined) {
      const { aspectRatio = "1:1", imageSize = "1K" } = values;
      return { ...values, aspectRatio, imageSize, size: table[aspectRatio]![imageSize]! };
    }
    for (const key of ["aspectRatio", "imageSize"] as const) {
      if (values[key] !== undefined) reading.note(key, "dropped", "size wins, dropped");
    }
    const [width, height] = parseSize(values.size)!;
    const imageSize = tierPixels.find(([, pixels]) => width * height <= pixels)![0];
    return { ...without(values, "aspectRatio"), imageSize };
  };
