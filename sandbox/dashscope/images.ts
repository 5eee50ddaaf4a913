/** `POST /dashscope/api/v1/services/aigc/image-generation/generation`: pictures from one message, as a task. */
import type { Artifacts } from "../artifacts.ts";
import { entriesOf } from "../checks.ts";
import { textOf } from "../conversation.ts";
import { flag, integer, text, wrongField, wrongImageAddress } from "../fields.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText, isObject } from "../json.ts";
import type { Size } from "../pictures.ts";
import { bytesOfDataUrl, colourOf, edit, paint, readPicture } from "../pictures.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { linkTo } from "../vendor.ts";
import { invalidParameter } from "./errors.ts";
import type { Tasks } from "./tasks.ts";
import { refuseSynchronous } from "./tasks.ts";

const encoding = { format: "png", quality: 100 } as const;
const tiers: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };
const sideUsual = 1328;
const areaMax = 4096 * 4096;
const imagesMax = 9;

export const parameterRules = {
  n: integer(1, 10),
  size: (value: unknown) => (sizeNamed(asText(value)) ? undefined : "expected W*H, 1K, 2K or 4K"),
  negative_prompt: text,
  prompt_extend: flag,
  watermark: flag,
  seed: integer(0, 2_147_483_647),
};

/** The fields of `wan2.6-image` that make it mix texts and pictures. */
const mixingRules = { ...parameterRules, enable_interleave: flag, max_images: integer(1, 5) };

/** Refuses what `wan2.6-image` does not take in its two modes: edits need a picture, and texts with pictures have no `n`. */
function refuseWrongMode({ body, model }: Call): void {
  if (!model.startsWith("wan2.6-image")) return;
  const { enable_interleave: mixes, n = 1 } = asObject(body["parameters"]);
  const pictures = contentOf(body).filter((part) => "image" in part).length;
  if (mixes === true && n !== 1) throw invalidParameter("num_images_per_prompt must be 1");
  if (mixes === true ? pictures > 1 : pictures === 0)
    throw invalidParameter("input.messages[0].content: wrong number of images for this mode");
}

/** Models that have a service of their own, which takes a prompt and nothing else. */
export const ofPromptAlone = /^(?:qwen-image(?:-plus)?|wanx?2\.[0-5]-t2i.*)$/;
export const elsewhere = "url error, please check url！";

/** The size in "1328*1328" or "2K". */
function sizeNamed(size: string): Size | undefined {
  const side = tiers[size];
  if (side !== undefined) return { width: side, height: side };
  const found = /^(\d{3,4})\*(\d{3,4})$/.exec(size);
  if (!found) return undefined;
  const [width, height] = [Number(found[1]), Number(found[2])];
  return width * height <= areaMax ? { width, height } : undefined;
}

/** The parts of the one message. */
function contentOf(body: Json): Json[] {
  const [message] = asList(asObject(body["input"])["messages"]);
  return entriesOf(asObject(message)["content"]).map(([, part]) => part);
}

function refuseWrongFields({ body, model }: Call): void {
  if (model === "") throw invalidParameter("Required parameter(model) missing or invalid.");
  if (ofPromptAlone.test(model)) throw invalidParameter(elsewhere);
  if (!model.includes("image")) {
    throw new Refusal(404, { code: "ModelNotFound", message: `Model not exist: ${model}` });
  }
  const { model: _model, input, parameters = {}, ...rest } = body;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalidParameter(`${unknown}: unknown field`);
  if (!isObject(input)) throw invalidParameter("input: invalid type: expected an object");
  if (!isObject(parameters)) throw invalidParameter("parameters: invalid type: expected an object");
  const [message, ...more] = asList(input["messages"]).map(asObject);
  if (Object.keys(input).length !== 1 || !message || more.length > 0) {
    throw invalidParameter("input: expected one message");
  }
  if (message["role"] !== "user") throw invalidParameter("input.messages[0].role: expected user");
  const wrong = wrongField(parameters, mixingRules);
  if (wrong) throw invalidParameter(`parameters.${wrong.field}: ${wrong.fault}`);
}

function refuseWrongContent({ body }: Call): void {
  const content = contentOf(body);
  for (const [index, part] of content.entries()) {
    const place = `input.messages[0].content[${index}]`;
    const wrong = wrongField(part, { text, image: text });
    if (wrong) throw invalidParameter(`${place}.${wrong.field}: ${wrong.fault}`);
    if (Object.keys(part).length !== 1) throw invalidParameter(`${place}: expected text or image`);
    const fault = "image" in part ? wrongImageAddress(part["image"]) : undefined;
    if (fault) throw invalidParameter(`${place}.image: ${fault}`);
  }
  const count = (name: string) => content.filter((part) => name in part).length;
  if (count("text") !== 1 || textOf(content) === "") {
    throw invalidParameter("input.messages[0].content: expected one text");
  }
  if (count("image") > imagesMax) {
    throw invalidParameter(`input.messages[0].content: at most ${imagesMax} images`);
  }
}

/** The first picture that came as a data URL. @throws Refusal when one cannot be read. */
async function sourceOf(body: Json): Promise<Buffer | undefined> {
  let first: Buffer | undefined;
  for (const part of contentOf(body)) {
    const bytes = bytesOfDataUrl(asText(part["image"]));
    if (bytes === undefined) continue;
    if (!(await readPicture(bytes))) throw invalidParameter("The image cannot be decoded.");
    first ??= bytes;
  }
  return first;
}

interface Order {
  readonly prompt: string;
  readonly parameters: Json;
  /** A picture to change. */
  readonly source?: Buffer | undefined;
}

/** Paints what is asked for; where each picture can be fetched. */
export async function painted(
  artifacts: Artifacts,
  { prompt, parameters, source }: Order,
  script: Script,
) {
  const square = { width: sideUsual, height: sideUsual };
  const size = sizeNamed(asText(parameters["size"])) ?? square;
  const count = asNumber(parameters["n"] ?? parameters["max_images"]) ?? 1;
  const paths: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const painting = { size, colour: colourOf(`${index} ${prompt}`), transparent: false };
    const { bytes } = source
      ? await edit({ ...painting, source, mask: undefined, mayBeTransparent: false }, encoding)
      : await paint(painting, encoding);
    const made = { type: "image/png", extension: "png", make: () => bytes, weight: bytes.length };
    paths.push(artifacts.publish("dashscope", made, script.artifact));
  }
  const links = (call: Call) => paths.map((path) => script.artifact?.url ?? linkTo(call, path));
  return { links, usage: { image_count: count, size: `${size.width}*${size.height}` } };
}

export function imageGeneration(tasks: Tasks, artifacts: Artifacts): MediaRoute {
  async function submit({ body }: Call, script: Script): Promise<Reply> {
    const order = {
      prompt: textOf(contentOf(body)),
      parameters: asObject(body["parameters"]),
      source: await sourceOf(body),
    };
    const { links, usage } = await painted(artifacts, order, script);
    const choice = (image: string): Json => ({
      finish_reason: "stop",
      message: { role: "assistant", content: [{ type: "image", image }] },
    });
    const mixed = (images: string[]): Json => ({
      finish_reason: "stop",
      message: {
        role: "assistant",
        content: images.flatMap((image) => [
          { type: "text", text: "A picture:" },
          { type: "image", image },
        ]),
      },
    });
    const mixes = order.parameters["enable_interleave"] === true;
    const output = (call: Call): Json => ({
      choices: mixes ? [mixed(links(call))] : links(call).map(choice),
      finished: true,
    });
    return tasks.submit({ output, usage }, script);
  }

  return {
    kind: "media",
    name: "image_tasks",
    strict: [refuseSynchronous, refuseWrongFields, refuseWrongContent, refuseWrongMode],
    script: ({ body }, read) => read(textOf(contentOf(body))),
    answer: submit,
  };
}
