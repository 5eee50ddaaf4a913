/** What a request carries: JSON, a form, or nothing the vendors know. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "./json.ts";
import { isObject } from "./json.ts";
import type { Form, FormFile } from "./multipart.ts";
import { boundaryOf, BrokenForm, readForm } from "./multipart.ts";

export interface Body {
  /** The JSON object, or the fields of the form; undefined when it is neither. */
  readonly fields: Json | undefined;
  readonly files: readonly FormFile[];
  readonly isForm: boolean;
  /** What the journal shows, and how many characters of it count towards its limit. */
  readonly shown: unknown;
  readonly text: string;
  /** Deletes the files. */
  dispose(): Promise<void>;
}

const nothingToDo = () => Promise.resolve();

/** Reads the body; undefined when the client left before it was whole. */
export async function readBody(request: IncomingMessage): Promise<Body | undefined> {
  const boundary = boundaryOf(request.headers["content-type"] ?? "");
  if (boundary !== undefined) return await readFormBody(request, boundary);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const text = chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString();
  const parsed = parsedJson(text);
  const fields = isObject(parsed) ? parsed : undefined;
  return { fields, files: [], isForm: false, shown: parsed, text, dispose: nothingToDo };
}

/** The JSON in a text; undefined when it is none. */
function parsedJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readFormBody(request: IncomingMessage, boundary: string): Promise<Body | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-sandbox-"));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const form = await readForm(request, boundary, folder);
    const shown = summaryOf(form);
    const fields = gathered(form.fields);
    return { fields, files: form.files, isForm: true, shown, text: JSON.stringify(shown), dispose };
  } catch (error) {
    await dispose();
    if (!(error instanceof BrokenForm)) return undefined;
    request.resume();
    const shown = { broken_form: error.message };
    return { fields: undefined, files: [], isForm: true, shown, text: "", dispose: nothingToDo };
  }
}

/** Values by name; a name that comes more than once has a list. */
function gathered(entries: readonly (readonly [name: string, value: unknown])[]): Json {
  const found = new Map<string, unknown[]>();
  for (const [name, value] of entries) found.set(name, [...(found.get(name) ?? []), value]);
  const single = [...found].map(([name, values]) => [name, values.length > 1 ? values : values[0]]);
  return Object.fromEntries(single) as Json;
}

/** The form for people: of files only what they are. */
function summaryOf({ fields, files }: Form): Json {
  const shown = files.map(({ name, filename, type, bytes, sha256 }): [string, unknown] => [
    name,
    { filename, type, bytes, sha256 },
  ]);
  return gathered([...fields, ...shown]);
}

const shownCharactersMax = 1000;

/** The same JSON with its long data URLs replaced by what they hold: their type, length and hash. */
export function withoutData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutData);
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, withoutData(inner)]),
    );
  }
  if (typeof value !== "string" || value.length <= shownCharactersMax) return value;
  const start = /^data:[^,]{0,100};base64,/.exec(value.slice(0, 120))?.[0];
  if (start === undefined) return value;
  const bytes = Buffer.from(value.slice(start.length), "base64");
  const hash = createHash("sha256").update(bytes).digest("hex");
  return `${start}<${bytes.length} bytes, sha256 ${hash}>`;
}
