/** Generates docs/sandbox.md: a description of the simulated vendors, and the table of script fields from sandbox/script-fields.ts. */
import { artifactFields, scriptFields } from "../sandbox/script-fields.ts";

const introduction = `# Sandbox

<!-- Generated from sandbox/script-fields.ts by \`npm run docs\`. -->

The sandbox is a set of simulated vendors that speak the vendors' real wire shapes on one local port. It lets
you try every part of the gateway without a vendor's key, and it is what our own tests run against. It shares
no code with the gateway's codecs, so that a mistake in one cannot hide behind the same mistake in the other.

It runs beside the gateway when there is neither a configuration file nor a vendor key in the environment, or
when \`TOLLGATE_SANDBOX=on\`. \`npx tollgate sandbox --port 8081\` runs it alone.

## Models

Each has an upstream that speaks one protocol. A call in that protocol goes through without conversion, a call
in another one is converted.

| model | its upstream speaks |
|---|---|
| \`sandbox/chat\` | chat completions |
| \`sandbox/responses\` | responses |
| \`sandbox/messages\` | messages |
| \`sandbox/generate-content\` | generateContent |
| \`sandbox/multi\` | all four, one offer each |
| \`sandbox/embedding\` | embeddings: the same vector for the same text, always |

Videos are tasks at vendors that each have a task API of their own:

| model | its upstream | asked again at |
|---|---|---|
| \`sandbox/video-model-v1\`, \`-v1.5\` | xAI's \`/xai/v1/videos/generations\` | \`/xai/v1/videos/{id}\`: 202 while it works |
| \`sandbox/video-model-seconds\` | DashScope's \`.../video-generation/video-synthesis\` | \`/dashscope/api/v1/tasks/{id}\`: 200 always |
| \`sandbox/video-model-tokens\` | Ark's \`/ark/api/v3/contents/generations/tasks\` | the same path and the id |

The files are real: MP4 with H.264 in the asked size at 24 frames a second, of one colour, with a silent AAC track
unless sound is off. Their addresses are signed, take no key and are good for a day, as those of a vendor's storage.
An image-to-video result has the size of its first frame where that came as a data URL; nothing is ever fetched.

Pictures come from three vendors:

| model | its upstream | what it makes |
|---|---|---|
| \`sandbox/image-model-a\` | OpenAI's \`/openai/v1/images/generations\`, \`/edits\` | PNG or JPEG, any legal size, opaque |
| \`sandbox/image-model-b\` | the same | also WebP and transparency |
| \`sandbox/task-image-model-2\` | the same | three sizes |
| \`sandbox/task-image-model-1\` | xAI's \`/xai/v1/images/generations\`, \`/edits\` | 1k as JPEG, 2k as PNG, 15 shapes |
| \`sandbox/image-model-c\` | DashScope's \`.../image-generation/generation\`, a task | PNG |

They are real too, of a colour that the prompt decides. An edit keeps the first picture. With a mask, it changes every
pixel where the mask's alpha is 0 and keeps every other one, to the bit in PNG. Without a mask it tints the whole
picture. Size \`auto\` is the first picture's own size, where the model has free sizes.

Prices are those of a middling text model: USD 0.50 in, 2.00 out, 0.05 for cache reads and 0.625 for cache
writes, per million tokens; embeddings cost 0.02. The first start gives the first workspace 100 USD of credit to spend on them.

Clouds are below prefixes of their own, for configurations to point at: \`/azure\` ([Azure](azure.md)),
\`/vertex\` ([Vertex AI](vertex.md)) and \`/bedrock\` ([Amazon Bedrock](bedrock.md)). They check keys,
tokens and paths as the real ones do. Tokens come from the sandbox too, and can expire and be revoked in tests.

## What it answers

A short text; or, where tools are offered and none has answered yet, a call of the first tool with arguments
that fit its schema. A line \`#sandbox {json}\` in the last user text, or in the prompt of a picture or video, decides otherwise:

\`\`\`json
{
  "model": "sandbox/chat",
  "stream": true,
  "messages": [
    { "role": "user", "content": "Hi\\n#sandbox {\\"reply\\": \\"Hello there\\", \\"chunk_delay_ms\\": 200}" }
  ]
}
\`\`\`

A field that does not exist, or a value of the wrong kind, is refused with 400: a test that misspells a field
must not pass by accident.

`;

const groups = {
  content: "What the answer holds",
  control: "When the script counts",
  trouble: "Troubles",
  task: "Image and video tasks",
  artifact: "Downloads: the fields of artifact",
} as const;

const ending = `## Journal

\`GET /__journal\` on the sandbox's port lists what it received, oldest first: vendor, method, path, headers,
body, the status it answered, and whether the caller left early. Of a form's files it keeps name, type, length and
SHA-256, and of data URLs in bodies above 1 MB type, length and SHA-256. \`?model=\` and \`?contains=\` narrow the list;
\`DELETE /__journal\` empties it. \`GET /\` answers these tables as JSON. The port is printed when the gateway starts.
The \`Host\` header must be an IP address, \`localhost\` or a name without a dot; others get 403, so that no page of the web
reads the journal.
`;

/** The page as Markdown. */
export function sandboxPage(): string {
  const fields = [...Object.entries(scriptFields), ...Object.entries(artifactFields)];
  const sections = Object.entries(groups).map(([group, title]) => {
    const rows = fields
      .filter(([, field]) => field.group === group)
      .map(([name, field]) => `| \`${name}\` | ${field.kind} | ${field.meaning} |`);
    return [`### ${title}`, "", "| field | kind | meaning |", "|---|---|---|", ...rows, ""];
  });
  return [introduction.trimEnd(), "", ...sections.flat(), ending].join("\n");
}
