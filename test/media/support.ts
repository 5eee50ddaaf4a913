// Calls of media families without a gateway, and made-up uploads.
import { GatewayError } from "../../src/base/errors.ts";
import type { ImageFamily, VideoFamily } from "../../src/catalog/index.ts";
import {
  readMedia,
  type ImageRequest,
  type MediaForm,
  type MediaInput,
  type Upload,
  type VideoRequest,
} from "../../src/media/index.ts";

export type FamilyName = ImageFamily | VideoFamily;
export type Fields = Record<string, unknown>;
export type More = Partial<Omit<MediaInput, "fields">>;

/** The form in which tests call a family by default. */
const usualForm = (family: FamilyName): MediaForm => (family === "image-a" ? "images" : "tasks");

type RequestOf<Family extends FamilyName> = Family extends VideoFamily
  ? VideoRequest
  : ImageRequest;

const inputOf = (family: FamilyName, fields: Fields, more: More): MediaInput => ({
  form: usualForm(family),
  encoding: "json",
  images: [],
  fields,
  ...more,
});

export function read<Family extends FamilyName>(family: Family, fields: Fields, more: More = {}) {
  const { request, notes } = readMedia(family, inputOf(family, fields, more));
  return { request: request as RequestOf<Family>, notes };
}

/** Reads a call, and returns its request. Throws if anything was changed. */
export function requestOf<Family extends FamilyName>(
  family: Family,
  fields: Fields,
  more: More = {},
) {
  const { request, notes } = read(family, fields, more);
  if (notes.length > 0) throw new Error(`unexpected notes: ${JSON.stringify(notes)}`);
  return request;
}

/** The notes of a call as `param: detail`. */
export const notesOf = (family: FamilyName, fields: Fields, more: More = {}): string[] =>
  read(family, fields, more).notes.map(({ param, detail }) => `${param}: ${detail}`);

/** `code param` of the refusal. Throws if the call is accepted. */
export function refusalOf(family: FamilyName, fields: Fields, more: More = {}): string {
  return `${errorOf(family, fields, more).code} ${errorOf(family, fields, more).param}`;
}

export function errorOf(family: FamilyName, fields: Fields, more: More = {}): GatewayError {
  try {
    read(family, fields, more);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(fields)}`);
}

export const upload = (change: Partial<Upload> = {}): Upload => ({
  name: "upload",
  mediaType: "image/png",
  bytes: 1000,
  width: 64,
  height: 32,
  hasAlpha: true,
  ...change,
});

export const uploads = (count: number, change: Partial<Upload> = {}): Upload[] =>
  Array.from({ length: count }, () => upload(change));

export const url = "https://example.com/a.png";
export const frame = { url };
export const frames = (count: number) => Array.from({ length: count }, () => frame);
