/** Attributes as protobuf (opentelemetry-proto, common/v1). Names, and parts shared by spans, are encoded once. */
import type { Attributes, SharedPart } from "../base/tracing.ts";
import { ProtobufWriter, varintSize } from "./protobuf.ts";

export type Value = string | number | boolean;

/** Encoded names, as the field of their message. */
const fields = new Map<string, Uint8Array>();
const fieldsMax = 1_000;

function fieldOf(name: string): Uint8Array {
  let field = fields.get(name);
  if (field === undefined) {
    const writer = new ProtobufWriter();
    writeText(writer, 0x0a, name);
    field = writer.written();
    if (fields.size < fieldsMax) fields.set(name, field);
  }
  return field;
}

/** Writes a text as a field. */
export function writeText(writer: ProtobufWriter, tag: number, text: string): void {
  const { at } = writer;
  if (writer.text(tag, text, text.length)) return;
  writer.at = at;
  writer.text(tag, text, Buffer.byteLength(text));
}

/**
 * Doubles, also where the value is a whole number. Some backends take an attribute's type from its first value: after a cost of 0 as an
 * integer they would cut all later costs to 0. The SDK writes integers there.
 */
const doubles: ReadonlySet<string> = new Set([
  "gen_ai.response.time_to_first_chunk",
  "tollgate.cost_usd",
]);

/** The tag of an attribute in a span, and in a resource. */
const inSpan = 0x4a;
export const inResource = 0x0a;

/** Begins an attribute whose value is a message of `size` bytes. */
function begin(writer: ProtobufWriter, tag: number, field: Uint8Array, size: number): void {
  const pair = field.length + 1 + varintSize(size) + size;
  writer.reserve(pair + 8);
  writer.byte(tag);
  writer.varint(pair);
  writer.copy(field);
  writer.byte(0x12);
  writer.varint(size);
}

/** Writes an attribute, assuming that its text has `bytes` bytes; false if it does not. */
function tryText(
  writer: ProtobufWriter,
  { tag, field }: { readonly tag: number; readonly field: Uint8Array },
  text: string,
  bytes: number,
): boolean {
  begin(writer, tag, field, 1 + varintSize(bytes) + bytes);
  return writer.text(0x0a, text, bytes);
}

export function writeAttribute(
  writer: ProtobufWriter,
  name: string,
  value: Value,
  tag = inSpan,
): void {
  const field = fieldOf(name);
  if (typeof value === "string") {
    const { at } = writer;
    if (tryText(writer, { tag, field }, value, value.length)) return;
    writer.at = at;
    tryText(writer, { tag, field }, value, Buffer.byteLength(value));
  } else if (typeof value === "boolean") {
    begin(writer, tag, field, 2);
    writer.byte(0x10);
    writer.byte(value ? 1 : 0);
  } else if (Number.isSafeInteger(value) && value >= 0 && !doubles.has(name)) {
    begin(writer, tag, field, 1 + varintSize(value));
    writer.byte(0x18);
    writer.varint(value);
  } else {
    begin(writer, tag, field, 9);
    writer.byte(0x21);
    writer.double(value);
  }
}

/** Writes attributes that several spans share. */
export function writePart(writer: ProtobufWriter, part: SharedPart): void {
  const bytes = (part.bytes ??= bytesOf(part.attributes));
  writer.reserve(bytes.length);
  writer.copy(bytes);
}

function bytesOf(attributes: Attributes): Uint8Array {
  const writer = new ProtobufWriter(1_024);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) writeAttribute(writer, name, value);
  return writer.written();
}
