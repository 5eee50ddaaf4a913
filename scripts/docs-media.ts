/** Generates docs/media.md: the fields of image and video models, from the families' data in src/media/families. */
import { mediaFamilies } from "../src/catalog/index.ts";
import { families, type MediaFamily } from "../src/media/index.ts";
import { fieldName, type Domain, type Field } from "../src/media/family.ts";

const introduction = `# Images and videos

<!-- Generated from src/media/families by \`npm run docs\`. -->

The fields of image and video calls, by the family of the model. \`GET /v1/models\` lists the same domains for each model under
\`supported_parameters\`.

- A value outside a field's domain is refused with 400, unless the table says otherwise; \`param\` names the field.
- A field that is not in the table is dropped and reported, except on \`/v1/images/edits\` with a model of the family
  \`image-a\`, which refuses it. \`notes\` of a task and \`gw.notes\` of an edit have the reports, as
  \`"<field>: <why>"\`.
- A picture under another vendor's name, such as \`image_url\` or \`input_image\`, is refused: without it the result would be
  another one. The message names the field or endpoint that takes it.
- \`null\` is the same as absent.
- In multipart bodies numbers and booleans are text; the domains are the same.
- \`/v1/tasks\` and \`/v1/videos/generations\` do not stream. \`stream: true\` and \`partial_images\` above 0 are
  refused; \`false\` and 0 are accepted.
- Every task also has the fields \`webhook_url\` and \`model\`.
`;

const endpointNames = {
  images_generations: "POST /v1/images/generations",
  images_edits: "POST /v1/images/edits",
  tasks: "POST /v1/tasks",
  videos_generations: "POST /v1/videos/generations",
} as const;
const formEndpoints = {
  images: "images_generations",
  edits: "images_edits",
  tasks: "tasks",
  videos: "videos_generations",
} as const;

const code = (text: string | number | boolean) => `\`${text}\``;
const list = (values: readonly string[]) => values.map(code).join(", ");

function domainText(domain: Domain): string {
  switch (domain.type) {
    case "string":
      return domain.max === undefined ? "text" : `text of at most ${domain.max} characters`;
    case "enum":
      return list([...domain.values, ...(domain.forwarded ?? [])]);
    case "integer":
      return `${domain.min} to ${domain.max}`;
    case "boolean":
      return `${code("true")}, ${code("false")}`;
    case "size":
      return [
        ...domain.presets.map(code),
        ...(domain.custom ? [code("<width>x<height>")] : []),
      ].join(", ");
    case "material":
      return code("{url}");
    case "materials":
      return `up to ${domain.max} ${code("{url}")}`;
    case "media":
      return `list of ${code("{type, url}")}`;
  }
}

const outcomes = {
  drop: "dropped, noted",
  forward: "passed on; the upstream refuses them",
} as const;

function fieldRow(field: Field, family: MediaFamily): string {
  const names = new Set(family.forms.flatMap((form) => fieldName(field, form) ?? []));
  const other = Object.entries(field.nameIn ?? {}).filter(([form]) =>
    family.forms.includes(form as MediaFamily["forms"][number]),
  );
  const aliases = other.map(
    ([form, name]) =>
      `${code(name)} on ${code(endpointNames[formEndpoints[form as MediaFamily["forms"][number]]])}`,
  );
  const isPartial =
    field.forms !== undefined && family.forms.some((form) => !field.forms!.includes(form));
  const only = isPartial
    ? [
        `only on ${family.forms
          .filter((form) => field.forms!.includes(form))
          .map((form) => code(endpointNames[formEndpoints[form]]))
          .join(", ")}`,
      ]
    : [];
  const outside = field.outside === undefined ? [] : [`others are ${outcomes[field.outside]}`];
  const meaning = [field.meaning, ...aliases, ...only, ...outside].join("; ");
  const defaultText = field.required
    ? "required"
    : field.default === undefined
      ? ""
      : code(field.default);
  const shown = names.has(field.name) ? field.name : [...names][0]!;
  return `| ${code(shown)} | ${domainText(field.domain)} | ${defaultText} | ${meaning} |`;
}

const megabytes = (bytes: number) =>
  bytes % 1_000_000 === 0 ? `${bytes / 1_000_000} MB` : `${bytes / 1024 / 1024} MiB`;

function filesText({ files }: MediaFamily): string[] {
  if (!files) return [];
  const total = files.encodedBytesMost
    ? `, ${megabytes(files.encodedBytesMost)} together in base64`
    : "";
  const mask = files.mask
    ? "`mask`: a PNG with alpha below 4 MB, with the size of the first image, to which it applies; without an image it is ignored and noted."
    : "A `mask` is dropped and noted.";
  const limits = `up to ${files.most} files of ${megabytes(files.bytesMost)}${total}; PNG, JPEG or WebP, no addresses`;
  return [`\`image\`, \`image[]\` or \`image[0]\`, \`image[1]\`: ${limits}. ${mask}`, ""];
}

function dropsText({ drops = {}, refuses = {} }: MediaFamily): string[] {
  const told = Object.entries(drops).filter(([, why]) => why !== null);
  const silent = Object.entries(drops).filter(([, why]) => why === null);
  const notes = told.map(([name, why]) => `- ${code(name)}: ${why}`);
  const sentences = [
    ...(silent.length > 0
      ? [`Dropped without a note: ${list(silent.map(([name]) => name))}.`]
      : []),
    ...(Object.keys(refuses).length > 0 ? [`Refused: ${list(Object.keys(refuses))}.`] : []),
  ];
  // A blank line ends the list: otherwise a sentence right below it would belong to its last item.
  return [
    ...(notes.length > 0 ? ["Dropped with a note:", "", ...notes, ""] : []),
    ...(sentences.length > 0 ? [sentences.join(" "), ""] : []),
  ];
}

const usages = {
  image_tokens: "Billed by text and image tokens, each at its own rate.",
  images: "Billed by image, output and input.",
  video_seconds:
    "Billed by the seconds produced, at the rate of the requested resolution, and by input image.",
  video_tokens: "Billed by the tokens of the generated video.",
} as const;

function section(family: MediaFamily): string {
  const endpoints = mediaFamilies[family.name].endpoints.map((name) => code(endpointNames[name]));
  const hours = family.expirySeconds / 3600;
  const expiry = mediaFamilies[family.name].endpoints.includes("tasks")
    ? ` A task expires after ${hours} hours${family.fields.expiresAfterSeconds ? " unless the call sets another time" : ""}.`
    : "";
  const bySound = family.fields.audio
    ? " Videos without sound (`audio: false`) have a rate of their own if the price has one for them."
    : "";
  return [
    `## ${family.name}`,
    "",
    `${endpoints.join(", ")}. ${usages[family.usage.unit]}${bySound}${expiry}`,
    "",
    "| field | values | default | |",
    "|---|---|---|---|",
    ...Object.values(family.fields).map((field) => fieldRow(field, family)),
    "",
    ...filesText(family),
    ...dropsText(family),
    // Text between two lists separates them: otherwise the rules would belong to the list of dropped fields.
    ...(family.remarks.length > 0 ? ["Rules:", ""] : []),
    ...family.remarks.map((remark) => `- ${remark}`),
    "",
  ].join("\n");
}

/** The page as Markdown. */
export function mediaPage(): string {
  return [introduction, ...Object.values(families).map(section)].join("\n");
}
