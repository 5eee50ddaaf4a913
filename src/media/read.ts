/**
 * Reads a call's fields by the data of its family: types, domains, defaults, drops and refusals.
 * docs/media.md; ERR-12, ERR-13.
 */
import { inRequestOrder, type Note } from "../base/notes.ts";
import { shortText } from "../base/text.ts";
import { pushAll } from "../base/push-all.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import { checkFiles, isImageField, refuse } from "./files.ts";
import { families } from "./families/index.ts";
import {
  fieldName,
  type Domain,
  type Field,
  type FieldKey,
  type MediaFamily,
  type Reading,
  type Values,
} from "./family.ts";
import { pictureRefusal } from "./picture-names.ts";
import { imageRequest, videoRequest } from "./request.ts";
import { readValue } from "./read-value.ts";
import type { MediaForm, MediaInput, MediaRequest } from "./types.ts";

/** More unknown fields than any real call has; further ones are reported in one sentence. */
const unknownNotesMax = 50;
const nameCharactersMax = 200;
const shortName = (name: string): string => shortText(name, nameCharactersMax);

/**
 * Returns the request, and the notes about changes to it in the order of the caller's fields.
 * @throws GatewayError 400 with `param` as the caller wrote it: `missing_required_parameter`, `invalid_type`, `invalid_value`,
 * a range code, `unknown_parameter`, or one of the codes of material, files and streaming in docs/errors.md
 */
export function readMedia(
  familyName: ImageFamily | VideoFamily,
  input: MediaInput,
): { request: MediaRequest; notes: Note[] } {
  const family = families[familyName];
  const notes: Note[] = [];
  if (isAsynchronous(input.form)) refuseStreaming(input);
  const fields = new Map(fieldsOf(family, input.form).map((entry) => [entry.name, entry]));
  const values = readFields(family, input, fields, notes);
  const reading = readingOf(family, input, notes);
  const files = checkFiles(family, input, notes);
  const ruled = family.rules.reduce((given, rule) => rule(given, reading), values);
  const complete = withDefaults(ruled, [...fields.values()]);
  const request =
    family.kind === "image"
      ? imageRequest(familyName as ImageFamily, complete, { ...input, mask: files.mask })
      : videoRequest(familyName as VideoFamily, complete);
  return { request, notes: [...inRequestOrder(notes, input.fields)] };
}

interface NamedField {
  readonly key: FieldKey;
  readonly name: string;
  readonly field: Field;
}

/** The fields that a family has in a form, by the caller's names. */
export function fieldsOf(family: MediaFamily, form: MediaForm): NamedField[] {
  return Object.entries(family.fields).flatMap(([key, field]) => {
    const name = fieldName(field, form);
    return name === undefined ? [] : [{ key: key as FieldKey, name, field }];
  });
}

const isAsynchronous = (form: MediaForm): boolean => form === "tasks" || form === "videos";

const streamDomains: Readonly<Record<"stream" | "partial_images", Domain>> = {
  stream: { type: "boolean", textToo: true },
  partial_images: { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER, textToo: true },
};

/** Tasks are asynchronous, so nothing streams. Values that ask for no stream are allowed (TASK-12, TASK-13, TIMG1-28). */
function refuseStreaming({ fields, encoding }: MediaInput): void {
  for (const [name, domain] of Object.entries(streamDomains)) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const read = readValue(domain, value, encoding === "multipart");
    if ("fault" in read) refuse(name, read.fault.code, read.fault.why);
    if (read.value === true || (typeof read.value === "number" && read.value > 0)) {
      refuse(name, "streaming_not_supported", "this endpoint is asynchronous and streams nothing");
    }
  }
}

function readFields(
  family: MediaFamily,
  input: MediaInput,
  fields: ReadonlyMap<string, NamedField>,
  notes: Note[],
): Values {
  const values: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(input.fields)) {
    if (value === undefined || value === null || isHandledElsewhere(family, name, input.form))
      continue;
    const known = fields.get(name);
    if (!known) {
      refuseOrCollect(family, input, name, unknown);
      continue;
    }
    const read = readOne(known, value, input.encoding === "multipart");
    if (read.note) notes.push(read.note);
    else values[known.key] = read.value;
    pushAll(unknown, read.unread);
  }
  for (const { key, name, field } of fields.values()) {
    if (field.required && (values[key] ?? "") === "") {
      refuse(name, "missing_required_parameter", "is required");
    }
  }
  notes.push(...unknownNotes(family, input.form, unknown));
  return values;
}

/** True for files, which files.ts reads, and for streaming fields of asynchronous forms, which were checked before. */
function isHandledElsewhere(family: MediaFamily, name: string, form: MediaForm): boolean {
  if (family.kind === "image" && form !== "images" && isFileField(name)) return true;
  return isAsynchronous(form) && Object.hasOwn(streamDomains, name);
}
const isFileField = (name: string): boolean => isImageField(name) || name === "mask";

function refuseOrCollect(
  family: MediaFamily,
  input: MediaInput,
  name: string,
  unknown: string[],
): void {
  const short = shortName(name);
  const picture = pictureRefusal(family, input, name);
  if (picture) refuse(short, picture.code, picture.why);
  const why =
    family.refuses && Object.hasOwn(family.refuses, name) ? family.refuses[name] : undefined;
  if (why !== undefined) refuse(short, "unsupported_parameter", why);
  if (family.strictForms?.includes(input.form)) {
    refuse(short, "unknown_parameter", "is not a field of this endpoint");
  }
  unknown.push(name);
}

/** The value of one field, or the note that it was dropped. */
function readOne(
  { name, field }: NamedField,
  value: unknown,
  asText: boolean,
): { readonly value?: unknown; readonly note?: Note; readonly unread: readonly string[] } {
  const read = readValue(field.domain, value, asText);
  if (!("fault" in read)) {
    return { value: read.value, unread: (read.unread ?? []).map((at) => `${name}${at}`) };
  }
  const { fault } = read;
  if (fault.outside && field.outside === "forward") return { value, unread: [] };
  if (fault.outside && field.outside === "drop") {
    return { note: { param: name, kind: "dropped", detail: `${fault.why}; dropped` }, unread: [] };
  }
  const above = fault.code !== "integer_below_min_value";
  const code = fault.outside && above ? (field.code ?? fault.code) : fault.code;
  return refuse(`${name}${fault.at ?? ""}`, code, fault.why);
}

const unsupported = "not supported by this model, dropped";

/** Why a field is dropped that the model may have in another form, or by another name in this one. */
function whyUnknown(family: MediaFamily, form: MediaForm, name: string): string {
  const field = Object.values(family.fields).find(
    (one) => one.name === name || Object.values(one.nameIn ?? {}).includes(name),
  );
  if (!field) return unsupported;
  const here = fieldName(field, form);
  return here === undefined
    ? "not a field of this endpoint, dropped"
    : `its name at this endpoint is ${here}, dropped`;
}

function unknownNotes(family: MediaFamily, form: MediaForm, names: readonly string[]): Note[] {
  const drops = family.drops ?? {};
  const noted = names.filter((name) => !(Object.hasOwn(drops, name) && drops[name] === null));
  const notes = noted.slice(0, unknownNotesMax).map((name): Note => {
    const why = Object.hasOwn(drops, name) ? drops[name] : undefined;
    const detail = why ? `${why}, dropped` : whyUnknown(family, form, name);
    return { param: shortName(name), kind: "dropped", detail };
  });
  const more = noted.length - notes.length;
  if (more === 0) return notes;
  const last = notes.at(-1)!;
  return [...notes.slice(0, -1), { ...last, detail: `${unsupported}, and ${more} more like it` }];
}

function readingOf(family: MediaFamily, input: MediaInput, notes: Note[]): Reading {
  const nameOf = (key: FieldKey): string => {
    const field = family.fields[key];
    return (field && fieldName(field, input.form)) ?? key;
  };
  return {
    form: input.form,
    images: input.images,
    nameOf,
    note: (key, kind, detail) => notes.push({ param: nameOf(key), kind, detail }),
    refuse: (key, code, why) => refuse(nameOf(key), code, why),
  };
}

function withDefaults(values: Values, fields: readonly NamedField[]): Values {
  const complete: Record<string, unknown> = {};
  for (const { key, field } of fields) {
    const fallback =
      field.defaultWithout === undefined || values[field.defaultWithout] === undefined
        ? field.default
        : undefined;
    const value = values[key] ?? fallback;
    if (value !== undefined) complete[key] = value;
  }
  return complete;
}
