/** Generates docs/sandbox.md: a description of the simulated vendors, and the table of script fields from sandbox/script-fields.ts. */
import { artifactFields, scriptFields } from "../sandbox/script-fields.ts";

const introduction = `# Sandbox

<!-- Generated from sandbox/script-fields.ts by \`npm run docs\`. -->

The sandbox is a set of simulated vendors that speak the vendors' real wire formats on one local port. With it you can
try every part of the gateway without a vendor's key, and the project's own tests use it. It shares
no code with the gateway's codecs, so that a mistake in one cannot hide behind the same mistake in the other.

It runs beside the gateway when there is neither a configuration file nor a vendor key in the environment, or
when \`TOLLGATE_SANDBOX=on\`. \`npx tollgate sandbox --port 8081\` runs it alone.

## Models

Each model has an upstream that speaks one protocol. Calls in that protocol are not converted; calls
in the other protocols are.

| model | protocol of its upstream |
|---|---|
| \`sandbox/chat\` | chat completions |
| \`sandbox/responses\` | responses |
| \`sandbox/messages\` | messages |
| \`sandbox/generate-content\` | generateContent |
| \`sandbox/multi\` | all four, one offer each |
| \`sandbox/embedding\` | embeddings: always the same vector for the same text |

Videos are tasks. Each vendor has its own task API:

| model | its upstream | polled at |
|---|---|---|
| \`sandbox/video-model-v1\`, \`-v1.5\` | xAI's \`/xai/v1/videos/generations\` | \`/xai/v1/videos/{id}\`: 202 while the job runs |
| \`sandbox/video-model-seconds\` | DashScope's \`.../video-generation/video-synthesis\` | \`/dashscope/api/v1/tasks/{id}\`: always 200 |
| \`sandbox/video-model-tokens\` | Ark's \`/ark/api/v3/contents/generations/tasks\` | the same path with the id |

The files are real: MP4 with H.264 in the requested size at 24 frames a second, of one colour, with a silent AAC track
unless audio is off. Like the addresses of a vendor's storage, their addresses are signed, need no key and are valid for a day.
The result of image-to-video has the size of its first frame if that was sent as a data URL. The sandbox never fetches anything.

Images come from three vendors:

| model | its upstream | output |
|---|---|---|
| \`sandbox/image-model-a\` | OpenAI's \`/openai/v1/images/generations\`, \`/edits\` | PNG or JPEG, any legal size, opaque |
| \`sandbox/image-model-b\` | the same | also WebP and transparency |
| \`sandbox/task-image-model-2\` | the same | three sizes |
| \`sandbox/task-image-model-1\` | xAI's \`/xai/v1/images/generations\`, \`/edits\` | 1k as JPEG, 2k as PNG, 15 shapes |
| \`sandbox/image-model-c\` | DashScope's \`.../image-generation/generation\`, a task | PNG |

They are real too, of a colour that depends on the prompt. An edit starts from the first image. With a mask, it changes every
pixel where the mask's alpha is 0 and keeps all others, in PNG bit by bit. Without a mask it tints the whole
image. Size \`auto\` is the size of the first image, if the model has free sizes.

Prices are those of an average text model, per million tokens: USD 0.50 for input, 2.00 for output, 0.05 for cache reads, 0.625 for cache
writes, and 0.02 for embeddings. At the first start the first workspace gets 100 USD of credit.

Clouds have their own path prefixes, for use in configurations: \`/azure\` ([Azure](azure.md)),
\`/vertex\` ([Vertex AI](vertex.md)) and \`/bedrock\` ([Amazon Bedrock](bedrock.md)). They check keys,
tokens and paths as the real clouds do. The sandbox also issues the tokens; tests can let them expire or revoke them.

## Answers

The sandbox answers with a short text. If tools are offered and none has answered yet, it answers with a call of the first tool, whose
arguments fit the schema. To script another answer, put a line \`#sandbox {json}\` in the last user text, or in the prompt of an image or video:

\`\`\`json
{
  "model": "sandbox/chat",
  "stream": true,
  "messages": [
    { "role": "user", "content": "Hi\\n#sandbox {\\"reply\\": \\"Hello there\\", \\"chunk_delay_ms\\": 200}" }
  ]
}
\`\`\`

A field that does not exist, or a value of the wrong kind, is refused with 400, so that a test with a misspelled field
cannot pass by accident.

`;

const groups = {
  content: "Content of the answer",
  control: "When the script applies",
  trouble: "Faults",
  task: "Image and video tasks",
  artifact: "Downloads: the fields of artifact",
} as const;

const ending = `## Journal

\`GET /__journal\` on the sandbox's port lists the requests that it received, oldest first: vendor, method, path, headers,
body, the answered status, and whether the caller left early. For a form's files it has name, type, length and
SHA-256; for data URLs in bodies above 1 MB it has type, length and SHA-256. \`?model=\` and \`?contains=\` filter the list;
\`DELETE /__journal\` empties it. \`GET /\` answers these tables as JSON. The port is printed when the gateway starts.
The \`Host\` header must be an IP address, \`localhost\` or a name without a dot; others get 403, so that no web page can read
the journal.
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
