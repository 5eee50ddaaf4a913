// Helpers for synchronous image calls through a running gateway: the caller's decoded answer, and the request that the sandbox's
// vendor received.
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

export const modelA = "sandbox/image-model-a";
export const modelB = "sandbox/image-model-b";

export type Bytes = Buffer<ArrayBuffer>;
export type Fields = Readonly<Record<string, unknown>>;
/** Files by part name; a list repeats the name. */
export type Files = Readonly<Record<string, Bytes | readonly Bytes[]>>;
export type Headers = Readonly<Record<string, string>>;

export interface ImageAnswer {
  readonly created: number;
  readonly data: readonly { readonly b64_json: string; readonly revised_prompt?: string }[];
  readonly background: string;
  readonly output_format: string;
  readonly quality: string;
  readonly size: string;
  readonly usage: Usage;
  readonly gw?: Gw;
}

interface Details {
  readonly image_tokens: number;
  readonly text_tokens: number;
}
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_tokens_details: Details;
  readonly output_tokens_details: Details;
}
export interface Gw {
  readonly task_id: string;
  readonly generation_id: string;
  readonly provider: string;
  readonly cost_nano: string;
  readonly images: readonly { readonly index: number; readonly url: string }[];
  readonly notes: readonly string[];
}

/** A request as the vendor got it. Files of forms are `{filename, type, bytes, sha256}`. */
export interface Sent {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Fields;
  readonly aborted: boolean;
}

/** A successful call. */
interface CompletedCall {
  readonly answer: ImageAnswer;
  readonly headers: globalThis.Headers;
  readonly sent: Sent;
}

export interface ImageBench extends GatewayUnderTest {
  readonly client: OpenAI;
  /** Generates a small picture. Undefined fields are omitted. */
  generate(fields?: Fields, headers?: Headers): Promise<Response>;
  /** Edits by form; each member of `fields` is a text part. */
  edit(fields: Fields, files: Files, headers?: Headers): Promise<Response>;
  /** Makes a call that must be answered with 200. @throws if it is not */
  runCall(makeCall: (prompt: string) => Promise<Response>, script?: object): Promise<CompletedCall>;
  /** `code param` of a 400 refusal that reached no vendor. @throws if it is none */
  refusal(makeCall: (prompt: string) => Promise<Response>): Promise<string>;
  /** The vendor's received requests that contain this text. */
  sentWith(text: string): Promise<Sent[]>;
  /** The number of open holds. */
  holds(): Promise<number>;
  /**
   * Waits until earlier calls are cleaned up, which happens after their answers. Returns holds, charges, and files on disk.
   * @throws if an orphaned hold or file stays
   */
  state(): Promise<{ holds: number; chargedNano: bigint; files: string[] }>;
}

let count = 0;
/** A unique prompt, with an optional script line for the sandbox. */
export function prompted(script?: object): string {
  const mark = `fox ${(count += 1)}.`;
  return script ? `${mark}\n#sandbox ${JSON.stringify(script)}` : mark;
}

const withoutUndefined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** A text part for each field, and the files. */
export function formOf(fields: Fields, files: Files): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(withoutUndefined(fields)))
    form.append(name, String(value));
  for (const [name, list] of Object.entries(files))
    for (const file of [list].flat()) form.append(name, new Blob([file]), "file.bin");
  return form;
}

/** A gateway with the sandbox by default. */
export async function startImages(
  options: Parameters<typeof startTestGateway>[0] = {},
): Promise<ImageBench> {
  const gateway = await startTestGateway(options);
  const { url, key, workspaceId } = gateway;
  const sentWith: ImageBench["sentWith"] = async (text) => {
    const journal = `${gateway.sandboxUrl}/__journal?contains=${encodeURIComponent(text)}`;
    return ((await (await fetch(journal)).json()) as { data: Sent[] }).data;
  };
  const countOf = async (rows: string): Promise<number> => {
    const counted = `select count(*) as count from ${rows}`;
    const [row] = await gateway.database.query<{ count: bigint }>(counted);
    return Number(row!.count);
  };
  const holds = () => countOf("ledger_holds");
  const uploads = () => countOf("files where purpose = 'input' and expires_at > now()");
  const directory = join(gateway.directory, "data", "files");
  const onDisk = () => (existsSync(directory) ? readdirSync(directory) : []);
  /** Files on disk without a row, and rows without a file. A row and its file are removed at about the same time, in any order. */
  const strays = async () => {
    const rows = await gateway.database.query<{ name: string }>(
      "select name from files where purpose <> 'input' and expires_at > now()",
      [],
    );
    const kept = new Set(rows.map(({ name }) => name));
    return [...kept.symmetricDifference(new Set(onDisk()))];
  };
  const markOf = (prompt: string): string => prompt.split("\n")[0]!;
  return {
    ...gateway,
    client: new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }),
    sentWith,
    generate: (fields = {}, headers = {}) =>
      gateway.post(
        "/v1/images/generations",
        withoutUndefined({
          model: modelA,
          prompt: prompted(),
          size: "64x64",
          quality: "low",
          ...fields,
        }),
        headers,
      ),
    edit: (fields, files, headers = {}) =>
      fetch(`${url}/v1/images/edits`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: formOf(fields, files),
      }),
    async runCall(makeCall, script) {
      const prompt = prompted(script);
      const response = await makeCall(prompt);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 500)}`);
      const [sent] = await sentWith(markOf(prompt));
      return { answer: JSON.parse(text) as ImageAnswer, headers: response.headers, sent: sent! };
    },
    async refusal(makeCall) {
      const prompt = prompted();
      const response = await makeCall(prompt);
      const text = await response.text();
      if (response.status !== 400) throw new Error(`${response.status} ${text.slice(0, 500)}`);
      if ((await sentWith(markOf(prompt))).length > 0) throw new Error("a vendor was asked");
      const { error } = JSON.parse(text) as { error: { code: string; param: string | null } };
      return `${error.code} ${error.param}`;
    },
    holds,
    async state() {
      await eventually(
        async () =>
          (await uploads()) === 0 && (await holds()) === 0 && (await strays()).length === 0,
        "the end of every upload and every hold",
      );
      const { chargedNano } = await gateway.ledger.balance(workspaceId);
      return { holds: await holds(), chargedNano, files: onDisk() };
    },
  };
}

/** A picture whose neighbouring pixels differ. */
export async function picture(
  format: "png" | "jpeg" | "webp" = "png",
  { width = 64, height = 48 } = {},
): Promise<Bytes> {
  const pixels = Buffer.from(
    Array.from({ length: width * height * 3 }, (_, at) => (at * 37) % 256),
  );
  const image = sharp(pixels, { raw: { width, height, channels: 3 } });
  return Buffer.from(await image.toFormat(format).toBuffer());
}

/** A mask whose left half is transparent. */
export async function maskOf(width = 64, height = 48): Promise<Bytes> {
  const isOpen = (pixel: number): boolean => pixel % width < width / 2;
  const pixels = Buffer.from(
    Array.from({ length: width * height * 4 }, (_, at) =>
      at % 4 === 3 && isOpen(at >> 2) ? 0 : 255,
    ),
  );
  const image = sharp(pixels, { raw: { width, height, channels: 4 } });
  return Buffer.from(await image.png().toBuffer());
}

export const fileOf = (bytes: Buffer, name = "picture.png", type = "image/png") =>
  toFile(bytes, name, { type });

/** A picture padded to a size; decoders ignore bytes after it. */
export const padded = (file: Buffer, bytes: number): Bytes =>
  Buffer.concat([file, Buffer.alloc(bytes - file.length)]);

/** Size and format of a completely decoded picture: `64x64 png`. @throws if it is broken */
export async function shapeOf(base64: string | null | undefined): Promise<string> {
  const image = sharp(Buffer.from(base64 ?? "", "base64"));
  const { info } = await image.raw().toBuffer({ resolveWithObject: true });
  const { format } = await image.metadata();
  return `${info.width}x${info.height} ${format}`;
}

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
