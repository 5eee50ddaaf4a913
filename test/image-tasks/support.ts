// Helpers for image tasks through a running gateway: create them as JSON or form, wait for them, and read the requests of the
// sandbox's vendors and the resulting pictures.
import sharp from "sharp";
import type { TaskPoint } from "../../src/tasks/index.ts";
import { startBench, type Bench, type TaskBody } from "../task-http/support.ts";

export type Fields = Record<string, unknown>;
/** Files by part name; a list repeats the name. */
export type Files = Record<string, Buffer | readonly Buffer[]>;

/** A request as the vendor got it. Files of forms are `{filename, type, bytes, sha256}`. */
export interface Sent {
  readonly path: string;
  readonly body: Fields;
}

export interface CompletedTask {
  readonly task: TaskBody;
  /** The vendor's request. */
  readonly sent: Sent;
}

export interface Options {
  readonly files?: Files;
  /** Script for the sandbox. */
  readonly script?: object;
  readonly form?: boolean;
  readonly headers?: Record<string, string>;
}

export interface ImageBench extends Bench {
  /** Submits a task, as a form if there are files. */
  submit(fields: Fields, options?: Options): Promise<Response>;
  /** Makes a task and waits for its end. @throws if it is refused */
  run(fields: Fields, options?: Options): Promise<CompletedTask>;
  /** `code param` of a 400 refusal that reaches no vendor. @throws if it is not refused */
  refusal(fields: Fields, options?: Options): Promise<string>;
  /** The vendors' received requests that contain this text. */
  sentWith(text: string): Promise<Sent[]>;
  /** Stops tasks at this point until the returned function is called. */
  hold(point: TaskPoint): () => void;
}

/** A text part for each field, and the files. */
export function formOf(fields: Fields, files: Files): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  for (const [name, list] of Object.entries(files))
    for (const file of [list].flat())
      form.append(name, new Blob([new Uint8Array(file as Buffer)]), "file.bin");
  return form;
}

/** Starts a gateway whose tasks are polled after short pauses. */
export async function startImages(
  options: Parameters<typeof startBench>[0] = {},
): Promise<ImageBench> {
  let held: { readonly point: TaskPoint; readonly until: Promise<void> } | undefined;
  const at = (point: TaskPoint) => (point === held?.point ? held.until : undefined);
  const bench = await startBench({
    ...options,
    tasks: { timing: { firstPollMs: 30, sweepMs: 100 }, at, ...options.tasks },
  });
  let count = 0;
  const sentWith: ImageBench["sentWith"] = async (text) => {
    const url = `${bench.sandboxUrl}/__journal?contains=${encodeURIComponent(text)}`;
    return ((await (await fetch(url)).json()) as { data: Sent[] }).data;
  };
  /** The fields with a unique prompt, and the text that identifies it. */
  const marked = (fields: Fields, script: object | undefined): [Fields, string] => {
    const mark = `boat ${(count += 1)}.`;
    if ("prompt" in fields) return [fields, String(fields["prompt"])];
    const prompt = script ? `${mark}\n#sandbox ${JSON.stringify(script)}` : mark;
    return [{ ...fields, prompt }, mark];
  };
  const post = (fields: Fields, { files, form, headers = {} }: Options) =>
    bench.send("POST", "/v1/tasks", {
      body: files || form === true ? formOf(fields, files ?? {}) : fields,
      headers,
    });
  return {
    ...bench,
    sentWith,
    submit: (fields, options = {}) => post(marked(fields, options.script)[0], options),
    async run(fields, options = {}) {
      const [body, mark] = marked(fields, options.script);
      const headers = { prefer: "wait=25", ...options.headers };
      const answer = await post(body, { ...options, headers });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      const task = (await answer.json()) as TaskBody;
      const [sent] = await sentWith(mark);
      return { task, sent: sent! };
    },
    async refusal(fields, options = {}) {
      const [body, mark] = marked(fields, options.script);
      const before = (await sentWith(mark)).length;
      const answer = await post(body, options);
      const text = await answer.text();
      if (answer.status !== 400) throw new Error(`${answer.status} ${text}`);
      if ((await sentWith(mark)).length > before)
        throw new Error("the vendor was asked all the same");
      const { error } = JSON.parse(text) as { error: { code: string; param: string | null } };
      return `${error.code} ${error.param}`;
    },
    hold(point) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = { point, until: promise };
      return () => {
        held = undefined;
        resolve();
      };
    },
  };
}

interface Shape {
  readonly width?: number;
  readonly height?: number;
  readonly format?: "png" | "jpeg" | "webp";
  /** A colour, or transparent. */
  readonly background?: { r: number; g: number; b: number; alpha?: number };
}

/** A picture of one colour. */
export const plain = ({
  width = 64,
  height = 48,
  format = "png",
  background = { r: 200, g: 30, b: 30 },
}: Shape = {}): Promise<Buffer> =>
  sharp({
    create: { width, height, channels: background.alpha === undefined ? 3 : 4, background },
  })
    .toFormat(format)
    .toBuffer();

/** A mask whose left half has alpha 0, so that it is edited. */
export function maskOf(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.from(
    Array.from({ length: width * height }, (_, at) => [
      9,
      9,
      9,
      at % width < width / 2 ? 0 : 255,
    ]).flat(),
  );
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

export interface Picture {
  readonly format: string;
  readonly size: string;
  readonly hasAlpha: boolean;
  readonly bytes: Buffer;
}

/** A task's pictures, completely decoded. */
export async function picturesOf(task: TaskBody): Promise<Picture[]> {
  const made: Picture[] = [];
  for (const { url } of task.output.images) {
    const answer = await fetch(url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const { format, hasAlpha } = await sharp(bytes).metadata();
    if (answer.headers.get("content-type") !== `image/${format}`) throw new Error("wrong type");
    if (data.length !== info.width * info.height * info.channels) throw new Error("cut off");
    made.push({ format, size: `${info.width}x${info.height}`, hasAlpha, bytes });
  }
  return made;
}

/** `size format` of each picture. */
export const shapesOf = async (task: TaskBody): Promise<string[]> =>
  (await picturesOf(task)).map(({ size, format }) => `${size} ${format}`);
